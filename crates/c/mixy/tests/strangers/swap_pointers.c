#include <stddef.h>
static void swap(int **a, int **b) { int *t = *a; *a = *b; *b = t; }
int main(int argc, char **argv) {
  int v = 1, *p = &v, *q = NULL;
  swap(&p, &q);
  if (argc > 1) swap(&p, &q);
  return *q ? *p : 0; //~ 
}
