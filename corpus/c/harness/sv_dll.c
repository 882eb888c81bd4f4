// clean
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
typedef struct d {
  struct d *next, *prev;
  int data;
} D;
static D *mk(int v) {
  D *x = malloc(sizeof *x);
  x->next = x->prev = 0;
  x->data = v;
  return x;
}
int main() {
  D *head = mk(0), *last = head;
  for (int i = 1; i < 4; i++) {
    D *x = mk(i);
    last->next = x;
    x->prev = last;
    last = x;
  }
  int pos = __VERIFIER_nondet_int();
  if (pos < 1 || pos > 2) pos = 1;
  D *p = head;
  while (pos--) p = p->next;
  p->prev->next = p->next;
  p->next->prev = p->prev;
  free(p);
  int n = 0;
  for (p = head; p; p = p->next) n++;
  if (n != 3) reach_error();
  for (p = last; p->prev; p = p->prev)
    if (p->prev->next != p) reach_error();
  while (head) {
    p = head->next;
    free(head);
    head = p;
  }
  return 0;
}
