#include <stddef.h>
#include <stdlib.h>
static void release(void **p) { free(*p); *p = NULL; }
static void obtain(void **p) { *p = malloc(4); if (!*p) abort(); }
int main(int argc, char **argv) {
  int *x = NULL;
  obtain((void **)&x);
  *x = 1;
  if (argc > 1) release((void **)&x);
  *x = 2; //~ x
  return 0;
}
