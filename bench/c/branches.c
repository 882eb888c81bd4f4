// Every input bit splits the path: 65,536 ways, most of them alive at once when explored breadth first.
#include <stdio.h>
int main(void) {
  int above = 0, table[16] = {0};
  for (int i = 0; i < 16; i++) {
    if (getchar() > 'm') above++, table[i] = above;
  }
  return table[above & 15];
}
