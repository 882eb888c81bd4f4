// finds: invalid-free
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main() {
  int *p = malloc(10 * sizeof(int));
  int *q = p;
  while (__VERIFIER_nondet_int() && q < p + 2) q++;
  free(q); //~ invalid-free
  return 0;
}
