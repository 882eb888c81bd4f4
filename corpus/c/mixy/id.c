// The first example of section 4: null goes through a function and comes back.
#include <stddef.h>
void release(int *x) __attribute__((nonnull));
int *id(int *p) { return p; }
int main(void) {
  int *x = NULL;
  int *y = id(x);
  release(y);
  return 0;
}
