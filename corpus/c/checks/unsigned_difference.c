// checks: unsigned
#include <stddef.h>
int klee_range(int, int, const char *);
int main(void) {
  size_t used = klee_range(0, 20, "used"), room = 16;
  size_t left = room - used; //~ unsigned-overflow
  return left > 16;
}
