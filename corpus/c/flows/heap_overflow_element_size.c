// finds: out-of-bounds
// with: part_show.c
// The size of the pointer, not of what it points to.
#include "show.h"
struct pair {
  long first, second;
};
int main(void) {
  struct pair *good = malloc(sizeof *good), *bad = malloc(sizeof bad);
  good->second = 1;
  bad->second = 2; //~ out-of-bounds
  free(good);
  free(bad);
  return 0;
}
