#include <stdlib.h>
#include <string.h>
#include <stddef.h>
struct three { int *a, *b, *c; };
static int v;
int main(int argc, char **argv) {
  int **all = malloc(3 * sizeof *all);
  struct three *t = malloc(sizeof *t);
  if (!all || !t) return 1;
  for (int i = 0; i < 3; i++) all[i] = i == argc ? NULL : &v;
  memcpy(t, all, sizeof *t);
  return *t->a + *t->c + *t->b; //~ 
}
