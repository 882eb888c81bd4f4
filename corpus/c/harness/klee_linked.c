// finds: use-after-free
#include "klee/klee.h"
#include <stdlib.h>
struct n {
  int v;
  struct n *next;
};
int main() {
  struct n *head = 0;
  for (int i = 0; i < 3; i++) {
    struct n *x = malloc(sizeof *x);
    x->v = klee_int("v");
    x->next = head;
    head = x;
  }
  int max = head->v;
  for (struct n *p = head->next; p; p = p->next)
    if (p->v > max) max = p->v;
  for (struct n *p = head; p; p = p->next) klee_assert(p->v <= max);
  while (head) {
    struct n *t = head;
    head = head->next;
    free(t);
    head = t->next; //~ use-after-free
  }
  return 0;
}
