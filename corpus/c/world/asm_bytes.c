#include <stdint.h>
#include <stdio.h>
static uint32_t swap32(uint32_t x) {
  __asm__("bswap %0" : "+r"(x));
  return x;
}
static uint64_t swap64(uint64_t x) {
  __asm__("bswapq %0" : "=r"(x) : "0"(x));
  return x;
}
static uint16_t swap16(uint16_t x) {
  __asm__("xchgb %b0,%h0" : "+Q"(x));
  return x;
}
static uint32_t rotate(uint32_t x, unsigned char n) {
  __asm__("roll %1,%0" : "+r"(x) : "cI"(n) : "cc");
  return x;
}
int main(void) {
  printf("%x %lx %x\n", swap32(0x12345678), swap64(0x0102030405060708), swap16(0x1234));
  printf("%x %x %x\n", rotate(0x80000001, 1), rotate(0x12345678, 8), rotate(5, 0));
  return 0;
}
