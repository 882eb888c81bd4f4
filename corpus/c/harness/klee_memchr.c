// clean
#include "klee/klee.h"
#include <string.h>
int main() {
  char b[4];
  klee_make_symbolic(b, 4, "b");
  char *p = memchr(b, 'x', 4);
  if (p) klee_assert(*p == 'x' && p >= b && p < b + 4);
  return 0;
}
