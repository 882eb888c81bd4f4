// finds: out-of-bounds
#include "klee/klee.h"
int main() {
  int a[10];
  int i = klee_range(0, 11, "i");
  a[i] = 5; //~ out-of-bounds
  return 0;
}
