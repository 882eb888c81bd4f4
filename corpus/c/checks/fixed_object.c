// native: nothing is at the address natively
#include <stdint.h>
void klee_define_fixed_object(void *, unsigned long);
int klee_range(int, int, const char *);
int main(void) {
  volatile uint32_t *device = (uint32_t *)0x40000000;
  klee_define_fixed_object((void *)0x40000000, 16);
  device[0] = 3;
  uint32_t *next = (uint32_t *)(uintptr_t)(0x40000000 + 4);
  *next = 4;
  if (device[0] + device[1] != 7) return 1;
  device[klee_range(0, 5, "i")] = 1; //~ out-of-bounds
  return 0;
}
