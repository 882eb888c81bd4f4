// entry: through
static int deep(int *p) {
  return *p; //~ null-dereference
}
#include "static_in_header.h"
int main(void) { int x = 0; return through(&x); }
