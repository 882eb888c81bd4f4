// clean
#include <stdlib.h>
int klee_int(const char *name);
static char *kept;
int main(void) {
  char *p = malloc(8);
  p[0] = 1;
  if (klee_int("x") == 4) {
    kept = p;
    return 1;
  }
  free(p);
  return 0;
}
