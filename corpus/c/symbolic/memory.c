// Sizes, copies and unions that depend on input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int klee_range(int, int, const char *);
union both { unsigned u; unsigned char b[4]; };
int main(void) {
  int n = klee_range(1, 5, "n");
  unsigned char *p = malloc((size_t)n);
  for (int i = 0; i < n; i++) p[i] = (unsigned char)(i * 17 + n);
  union both x = {0};
  memcpy(x.b, p, (size_t)(n < 4 ? n : 4));
  if (x.u > 0x2000000) putchar('L');
  p[klee_range(0, n, "at")] ^= 1;
  unsigned s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  free(p);
  printf("%x\n", x.u);
  return (int)(s & 0x7f);
}
