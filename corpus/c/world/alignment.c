#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static _Alignas(4096) char page[10];
struct __attribute__((aligned(64))) line {
  char bytes[10];
};
int main(void) {
  _Alignas(256) char local[3];
  struct line lines[2];
  char other;
  printf("%d %d %d\n", (int)((uintptr_t)page % 4096), (int)((uintptr_t)local % 256), (int)((uintptr_t)lines % 64));
  printf("%zu %d\n", sizeof lines, other = (char)((uintptr_t)&lines[1] % 64));
  void *a = aligned_alloc(1024, 2048), *b = 0;
  printf("%d %d\n", (int)((uintptr_t)a % 1024), posix_memalign(&b, 8192, 100));
  printf("%d %d\n", (int)((uintptr_t)b % 8192), posix_memalign(&b, 24, 100) == EINVAL);
  free(a), free(b);
  return 0;
}
