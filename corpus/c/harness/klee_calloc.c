// clean
#include <stdlib.h>
#include <assert.h>
#include "klee/klee.h"
int main() {
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n > 0);
  klee_assume(n < 20);
  char *p = calloc(n, 1);
  assert(p[n - 1] == 0);
  p[n - 1] = 1;
  assert(p[n - 1] == 1);
  free(p);
  return 0;
}
