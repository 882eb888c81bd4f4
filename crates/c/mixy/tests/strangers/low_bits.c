#include <stdint.h>
#include <stddef.h>
static long cell;
static void *tag(void *p) { return (void *)((uintptr_t)p | 1); }
static void *untag(void *p) { return (void *)((uintptr_t)p & ~(uintptr_t)1); }
int main(int argc, char **argv) {
  void *t = tag(argc > 1 ? NULL : &cell);
  *(long *)untag(t) = 1; //~ x
  return 0;
}
