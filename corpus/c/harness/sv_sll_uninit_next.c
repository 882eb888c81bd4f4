// finds: uninitialised
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
typedef struct node {
  int h;
  struct node *n;
} N;
int main() {
  N *a = malloc(sizeof(N));
  a->h = 1;
  if (__VERIFIER_nondet_int()) a->n = 0;
  N *p = a;
  while (p) { //~ uninitialised
    N *q = p;
    p = p->n;
    free(q);
  }
  return 0;
}
