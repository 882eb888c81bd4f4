// finds: assertion
#include "klee/klee.h"
#include <assert.h>
union u {
  int i;
  unsigned char c[4];
  float f;
};
int main() {
  union u u;
  klee_make_symbolic(&u, sizeof u, "u");
  if (u.c[0] == 1 && u.c[3] == 0x80) assert(u.i > 0); //~ assertion
  return 0;
}
