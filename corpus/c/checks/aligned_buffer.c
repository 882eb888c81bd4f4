// clean
#include <stdint.h>
#include <stdlib.h>
int klee_range(int, int, const char *);
int main(void) {
  _Alignas(128) char local[8];
  char *p = aligned_alloc(64, 64);
  if (!p) return 1;
  if ((uintptr_t)p % 64 || (uintptr_t)local % 128) abort();
  p[klee_range(0, 64, "i")] = 1;
  free(p);
  return 0;
}
