// finds: division-by-zero
#include "klee/klee.h"
int main() {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  int y = 100 / (x - 3); //~ division-by-zero
  return y > 2;
}
