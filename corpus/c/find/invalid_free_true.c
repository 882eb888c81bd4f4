// finds: invalid-free
#include <stdlib.h>
int klee_int(const char *name);
int main(void) {
  char buffer[16], *p = malloc(16), *q = klee_int("x") ? p : buffer;
  q[0] = 1;
  free(q); //~ invalid-free
  if (q != p) free(p);
  return 0;
}
