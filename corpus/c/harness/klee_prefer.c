// clean
#include "klee/klee.h"
#include <stdio.h>
int main() {
  char buf[6];
  klee_make_symbolic(buf, sizeof buf, "buf");
  for (int i = 0; i < 5; i++) {
    klee_prefer_cex(buf, 32 <= buf[i]);
    klee_prefer_cex(buf, buf[i] <= 126);
  }
  klee_assume(buf[5] == 0);
  if (buf[0] == 'h' & buf[1] == 'i') puts("hi");
  return 0;
}
