#include <stdio.h>
#include <stdlib.h>
int main(void) {
  size_t n = 3ul << 30;
  char *p = malloc(n);
  if (!p) return 1;
  p[0] = 1, p[n - 1] = 2, p[n / 2] = 4;
  long *q = (long *)(p + n - 64);
  *q = 0x1122334455667788;
  printf("%d %x %lx\n", p[0] + p[n - 1] + p[n / 2], p[n - 63], *q);
  p = realloc(p, n + 4096);
  if (!p) return 2;
  printf("%d %lx\n", p[n - 1] + p[n / 2], *(long *)(p + n - 64));
  char *z = calloc(1 << 20, 3000);
  if (!z) return 3;
  z[5] = 7;
  printf("%d %d %d\n", z[5], z[6], z[3000000000]);
  free(p), free(z);
  return 0;
}
