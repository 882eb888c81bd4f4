// The address of a global as an index into nothing, in a constant expression.
#include <stdio.h>
int a[4] = {1, 2, 3, 4};
static int b;
int main(void) {
  char *p = &((char *)0)[(long)&a];
  int *q = &((int *)0)[(long)&b / 4];
  long d = (long)&a[3] - (long)&((char *)0)[(long)&a];
  printf("%d %d %ld %d\n", p == (char *)&a, q == &b, d, *(int *)(p + 8));
  return 0;
}
