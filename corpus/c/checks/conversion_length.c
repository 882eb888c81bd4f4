// checks: conversions
#include <stddef.h>
int klee_range(int, int, const char *);
static int take(short n) { return n; }
int main(void) {
  size_t n = (size_t)klee_range(0, 70000, "n");
  return take(n) == 7; //~ lossy-conversion
}
