// finds: out-of-bounds
#include <stdlib.h>
#include "klee/klee.h"
int main() {
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n < 20);
  char *p = malloc(n);
  p[3] = 1; //~ out-of-bounds
  free(p);
  return 0;
}
