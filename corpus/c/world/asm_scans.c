#include <stdint.h>
#include <stdio.h>
static int low(uint64_t x) {
  uint64_t r;
  __asm__("bsfq %1,%0" : "=r"(r) : "rm"(x));
  return (int)r;
}
static int high(uint32_t x) {
  uint32_t r;
  __asm__("bsrl %1,%0" : "=r"(r) : "r"(x) : "cc");
  return (int)r;
}
static uint64_t wide(uint64_t a, uint64_t b, uint64_t *high) {
  uint64_t low, h;
  __asm__("mulq %3" : "=a"(low), "=d"(h) : "a"(a), "r"(b) : "cc");
  *high = h;
  return low;
}
static int parity(unsigned x) {
  unsigned char r;
  __asm__("testb %b1,%b1\n\tsetnp %0" : "=q"(r) : "q"(x) : "cc");
  return r;
}
static unsigned sum(unsigned a, unsigned b, unsigned *carry) {
  unsigned c = 0;
  __asm__("addl %2,%0\n\tadcl $0,%1" : "+r"(a), "+r"(c) : "r"(b) : "cc");
  *carry = c;
  return a;
}
int main(void) {
  uint64_t h;
  unsigned c;
  printf("%d %d %d %d\n", low(0x100), low(1), high(0x100), high(0x80000001));
  uint64_t l = wide(0xffffffffffffffff, 16, &h);
  printf("%lx %lx %d %d\n", l, h, parity(3), parity(7));
  unsigned s = sum(0xfffffff0, 0x20, &c);
  printf("%x %u\n", s, c);
  return 0;
}
