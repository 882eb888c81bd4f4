// finds: null-dereference
#include "klee/klee.h"
int main() {
  int (*f)(void);
  int x = klee_int("x");
  f = x == 5 ? 0 : (int (*)(void))main;
  if (x != 5) return 0;
  return f(); //~ null-dereference
}
