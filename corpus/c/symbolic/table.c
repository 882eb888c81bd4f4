// A table indexed by unknown bytes, and a checksum of what comes out.
// symbolic-stdin: 3
#include <stdio.h>
static const unsigned char t[16] = {7, 3, 11, 0, 5, 5, 9, 1, 14, 2, 6, 8, 4, 10, 13, 12};
int main(void) {
  unsigned sum = 1;
  for (int i = 0; i < 3; i++) {
    int c = getchar();
    sum = sum * 5 + t[(c ^ (int)sum) & 15];
    if (sum & 1) putchar('o'); else putchar('e');
  }
  return (int)(sum & 0x3f);
}
