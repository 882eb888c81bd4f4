#include <stdio.h>
struct record {
  char tag;
  int value;
};
int main(void) {
  struct record r;
  r.tag = 'r';
  r.value = 7;
  fwrite(&r, sizeof r, 1, stdout); //~ uninitialised
  return 0;
}
