// finds: division-by-zero
// bounds: stands-in
// with: part_show.c
// A random number may be zero.
#include "show.h"
int main(void) {
  srand((unsigned)time(NULL));
  int n = rand();
  if (n != 0) show_number(100 % n);
  return 100 / rand() > 2; //~ division-by-zero
}
