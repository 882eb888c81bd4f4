#include <stdint.h>
#include <stdio.h>
static int a, b[4];
static char *odd;
int main(void) {
  odd = &((char *)0)[(long)&a];
  int *p = (int *)odd;
  *p = 7;
  uintptr_t n = (uintptr_t)&b[1];
  *(int *)(n + 4) = 9;
  printf("%d %d %d\n", a, b[2], odd == (char *)&a);
  printf("%d\n", (int)((uintptr_t)&b[3] - (uintptr_t)b));
  return 0;
}
