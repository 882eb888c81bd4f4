#include <stdint.h>
#include <stddef.h>
static int v;
static uintptr_t pack(int *p) { return (uintptr_t)p; }
static int *unpack(uintptr_t h) { return (int *)h; }
int main(int argc, char **argv) {
  uintptr_t h = pack(argc > 1 ? NULL : &v);
  *unpack(h) = 1; //~ x
  return 0;
}
