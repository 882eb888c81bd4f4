// finds: bad-shift
// checks: shifts
#include "klee/klee.h"
int main() {
  int x;
  unsigned s;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&s, sizeof s, "s");
  unsigned r = (unsigned)x << s; //~ bad-shift
  return r == 7;
}
