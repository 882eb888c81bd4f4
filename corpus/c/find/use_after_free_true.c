// finds: use-after-free
#include <stdlib.h>
int klee_int(const char *name);
struct list { int v; struct list *next; };
int main(void) {
  struct list *head = NULL;
  int stop = klee_int("stop"), sum = 0;
  for (int i = 0; i < 3; i++) {
    struct list *n = malloc(sizeof *n);
    n->v = i, n->next = head, head = n;
  }
  for (struct list *n = head; n; n = n->next) { //~ use-after-free
    sum += n->v;
    if (n->v == stop) free(n);
  }
  for (struct list *n = head, *next; n; n = next) next = n->next, free(n);
  return sum;
}
