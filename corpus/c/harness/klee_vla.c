// finds: out-of-bounds
#include "klee/klee.h"
int main() {
  int n = klee_range(1, 6, "n");
  int a[n];
  for (int i = 0; i < n; i++) a[i] = i;
  return a[n - 2]; //~ out-of-bounds
}
