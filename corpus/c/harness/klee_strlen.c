// clean
#include "klee/klee.h"
#include <string.h>
#include <assert.h>
int main() {
  char s[5];
  klee_make_symbolic(s, 5, "s");
  s[4] = 0;
  size_t n = strlen(s);
  assert(n <= 4);
  for (size_t i = 0; i < n; i++) assert(s[i]);
  return 0;
}
