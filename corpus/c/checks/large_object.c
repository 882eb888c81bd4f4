#include <stdlib.h>
long klee_choose(long);
int main(void) {
  unsigned long n = 3ul << 30;
  char *p = malloc(n);
  if (!p) return 1;
  p[n - 1] = 5;
  unsigned long i = n - 2 + (unsigned long)klee_choose(3);
  p[i] = 6; //~ out-of-bounds
  int last = p[n - 1];
  free(p);
  return last;
}
