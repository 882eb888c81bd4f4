// finds: assertion
#include "klee/klee.h"
#include <assert.h>
int t[5] = {3, 1, 4, 1, 5};
int main() {
  unsigned long i = klee_choose(5);
  assert(t[i] != 4); //~ assertion
  return 0;
}
