// finds: out-of-bounds
#include <stdlib.h>
#include "klee/klee.h"
int main() {
  int n = klee_range(1, 10, "n");
  int *p = malloc(4 * sizeof *p);
  for (int i = 0; i < 4; i++) p[i] = i;
  p = realloc(p, n * sizeof *p);
  int r = p[2]; //~ out-of-bounds
  free(p);
  return r;
}
