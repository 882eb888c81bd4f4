#include <stdio.h>
extern int missing(int) __attribute__((weak));
extern int absent __attribute__((weak));
__attribute__((weak)) int present(int x) { return x + 1; }
static int (*table[])(int) = {missing, present};
int main(void) {
  printf("%d %d\n", missing == 0, &absent == 0);
  if (missing) printf("%d\n", missing(1));
  if (&absent) printf("%d\n", absent);
  for (int i = 0; i < 2; i++) printf("%d\n", table[i] ? table[i](4) : -1);
  return 0;
}
