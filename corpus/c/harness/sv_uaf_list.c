// finds: use-after-free
#include <stdlib.h>
typedef struct n {
  struct n *next;
} n;
int main() {
  n *a = malloc(sizeof *a);
  a->next = malloc(sizeof *a);
  a->next->next = 0;
  for (n *p = a; p; p = p->next) //~ use-after-free
    free(p);
  return 0;
}
