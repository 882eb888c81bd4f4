// finds: leak
#include <stdlib.h>
int klee_int(const char *name);
int main(void) {
  char *p = malloc(8); //~ leak
  p[0] = 1;
  if (klee_int("x") == 4) return 1;
  free(p);
  return 0;
}
