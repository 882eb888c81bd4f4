// finds: assertion
#include <assert.h>
int klee_range(int, int, const char *);
int main(void) {
  int a = klee_range(0, 50, "a"), b = klee_range(0, 50, "b");
  int product = a * b;
  assert(product != 391); //~ assertion
  return 0;
}
