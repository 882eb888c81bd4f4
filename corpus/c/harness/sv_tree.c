// finds: leak
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
typedef struct t {
  struct t *l, *r;
  int k;
} T;
static T *ins(T *t, int k) {
  if (!t) {
    t = malloc(sizeof *t); //~ leak
    t->l = t->r = 0;
    t->k = k;
    return t;
  }
  if (k < t->k)
    t->l = ins(t->l, k);
  else if (k > t->k)
    t->r = ins(t->r, k);
  return t;
}
static void del(T *t) {
  if (!t) return;
  del(t->l);
  free(t);
}
int main() {
  T *t = 0;
  for (int i = 0; i < 3; i++) t = ins(t, __VERIFIER_nondet_int());
  del(t);
  return 0;
}
