// finds: invalid-free
#include <stdlib.h>
int klee_range(int, int, const char *);
int main(void) {
  char *p = malloc(4);
  free(p + klee_range(0, 2, "k")); //~ invalid-free
  return 0;
}
