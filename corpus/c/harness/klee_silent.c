// clean
#include "klee/klee.h"
int main() {
  int x = klee_int("x");
  if (x == 3) klee_silent_exit(0);
  klee_assert(x != 3);
  return 0;
}
