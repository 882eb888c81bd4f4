// finds: division-by-zero
#include "klee/klee.h"
#include <stdlib.h>
typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int divi(int a, int b) { return a / b; } //~ division-by-zero
int main() {
  op ops[] = {add, sub, divi};
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  int b = klee_int("b");
  if (i >= 3) return 1;
  return ops[i](10, b) > 3;
}
