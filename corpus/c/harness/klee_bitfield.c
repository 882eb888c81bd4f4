// finds: assertion
#include "klee/klee.h"
#include <assert.h>
struct f {
  unsigned a : 3, b : 5;
  int c : 4;
};
int main() {
  struct f f = {0};
  int x = klee_int("x");
  f.c = x;
  f.a = x;
  assert(f.c < 8);
  assert(f.a != 5 || f.c != -3); //~ assertion
  return 0;
}
