// clean
#include <stdlib.h>
int klee_int(const char *name);
static void drop(int **p) { free(*p); *p = NULL; }
int main(void) {
  int *p = malloc(4);
  if (!p) return 1;
  *p = klee_int("x");
  int again = *p == 7;
  drop(&p);
  if (again) drop(&p);
  return 0;
}
