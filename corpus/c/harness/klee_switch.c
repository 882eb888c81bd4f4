// finds: assertion
#include "klee/klee.h"
#include <stdlib.h>
int main() {
  unsigned char c;
  klee_make_symbolic(&c, 1, "c");
  switch (c) {
  case 'a' ... 'f':
    return 1;
  case 0:
    return 2;
  case 200:
    abort(); //~ assertion
  default:
    break;
  }
  return 0;
}
