#include <stdio.h>
int real(int a, int b) { return a * 10 + b; }
extern int other(int, int) __attribute__((alias("real")));
extern long wider(long, long) __attribute__((alias("real")));
extern int fewer() __attribute__((alias("real")));
int value = 41;
extern int same __attribute__((alias("value")));
extern unsigned char bytes[4] __attribute__((alias("value")));
int main(void) {
  same++;
  printf("%d %d %d\n", other(1, 2), (int)wider(3, 4), fewer(5, 6));
  printf("%d %d\n", value, bytes[0]);
  return 0;
}
