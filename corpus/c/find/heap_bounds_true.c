// finds: out-of-bounds
#include <stdlib.h>
int klee_range(int, int, const char *);
static void fill(char *p, int n) {
  for (int i = 0; i <= n; i++) p[i] = (char)i; //~ out-of-bounds
}
int main(void) {
  int n = klee_range(1, 5, "n");
  char *p = malloc((unsigned)n);
  fill(p, n);
  free(p);
  return 0;
}
