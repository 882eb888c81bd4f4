// finds: assertion
#include "klee/klee.h"
#include <assert.h>
int main() {
  int a[4] = {0}, b[4] = {0};
  int i;
  klee_make_symbolic(&i, sizeof i, "i");
  int c = klee_int("c");
  klee_assume(i >= 0);
  klee_assume(i < 4);
  int *p = c ? &a[i] : &b[i];
  *p = 7;
  assert(a[2] == 0 || c);
  assert(b[1] != 7); //~ assertion
  return 0;
}
