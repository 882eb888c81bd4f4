// clean
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
typedef struct node {
  int h;
  struct node *n;
} *List;
void exit(int s) {
_EXIT:
  goto _EXIT;
}
int main() {
  List a = (List)malloc(sizeof(struct node));
  if (a == 0) exit(1);
  List t, p = a;
  a->h = 0;
  int k = 0;
  while (k < 4 && __VERIFIER_nondet_int()) {
    t = (List)malloc(sizeof(struct node));
    if (t == 0) exit(1);
    p->h = 1;
    p->n = t;
    p = p->n;
    k++;
  }
  p->h = 2;
  p->n = 0;
  p = a;
  while (p != 0) {
    if (p->h == 3) reach_error();
    p = p->n;
  }
  while (a) {
    t = a->n;
    free(a);
    a = t;
  }
  return 0;
}
