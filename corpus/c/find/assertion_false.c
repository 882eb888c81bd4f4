// clean
#include <assert.h>
int klee_range(int, int, const char *);
int main(void) {
  int a = klee_range(0, 50, "a");
  int square = a * a;
  assert(square % 4 != 3);
  return 0;
}
