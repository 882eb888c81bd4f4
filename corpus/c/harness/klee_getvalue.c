// clean
#include "klee/klee.h"
int main() {
  int x = klee_int("x");
  klee_assume(x == 3);
  int y = klee_get_value_i32(x);
  klee_assert(y == 3);
  klee_print_expr("x", x);
  klee_warning("w");
  return 0;
}
