// clean
#include "klee/klee.h"
int main() {
  int x, y;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&y, sizeof y, "y");
  klee_assume(x > 3 & x < 7);
  klee_assume(y == x * 2);
  if (y > 12) {
    klee_assert(0);
  }
  klee_assert(y % 2 == 0);
  return 0;
}
