// finds: leak
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *g;
int main() {
  g = malloc(4);
  int *p = malloc(8); //~ leak
  if (__VERIFIER_nondet_int()) free(p);
  return 0;
}
