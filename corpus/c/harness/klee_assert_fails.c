// finds: assertion
#include "klee/klee.h"
int main() {
  unsigned x;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_assert(x * x != 49); //~ assertion
  return 0;
}
