// finds: out-of-bounds
// bounds: stands-in
// with: part_show.c
// A random index without a remainder.
#include "show.h"
int main(void) {
  int table[10] = {0};
  srand((unsigned)time(NULL));
  table[rand() % 10] = 1;
  table[rand()] = 1; //~ out-of-bounds
  return 0;
}
