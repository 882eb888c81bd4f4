// finds: double-free
#include <stdlib.h>
#include "klee/klee.h"
int main() {
  int *p = malloc(sizeof(int));
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  if (x) free(p);
  free(p); //~ double-free
  return 0;
}
