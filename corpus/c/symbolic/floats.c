// Conversions and comparisons of floating-point numbers made from small integers.
#include <stdio.h>
int klee_range(int, int, const char *);
int main(void) {
  double x = klee_range(-3, 4, "x") * 0.5;
  float y = (float)x + 1.25f;
  if (x > 0.75) putchar('>');
  if (y * y < 1.0f) putchar('<');
  return (int)(y * 4);
}
