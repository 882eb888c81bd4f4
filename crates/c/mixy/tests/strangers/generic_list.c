#include <stdlib.h>
typedef struct cell { void *car; struct cell *cdr; } cell;
static cell *cons(void *a, cell *d) { cell *c = malloc(sizeof *c); if (!c) abort(); c->car = a; c->cdr = d; return c; }
static void *nth(cell *c, int n) { while (n-- > 0 && c) c = c->cdr; return c ? c->car : NULL; }
int main(int argc, char **argv) {
  int a = 1, b = 2;
  cell *l = cons(&a, cons(&b, NULL));
  return *(int *)nth(l, argc) + *(int *)nth(l, 0); //~ x
}
