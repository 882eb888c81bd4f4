// Comparisons of an unknown floating-point number, NaN included.
#include <stdio.h>
void klee_make_symbolic(void *, unsigned long, const char *);
int main(void) {
  float x;
  klee_make_symbolic(&x, sizeof x, "x");
  if (x > 0.75f) putchar('>');
  if (x != x) putchar('n');
  double wide = x;
  return -wide < -2.5;
}
