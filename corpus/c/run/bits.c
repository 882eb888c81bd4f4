#include <stdio.h>
static unsigned reverse(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) { r = r << 1 | (x & 1); x >>= 1; } return r; }
static int count(unsigned x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }
int main(void) {
  unsigned x = 0xdeadbeef; printf("%08x %d %d %d %d\n", reverse(x), count(x), __builtin_popcount(x), __builtin_clz(x), __builtin_ctz(x & ~15u));
  printf("%08x %016lx\n", __builtin_bswap32(x), __builtin_bswap64(0x0123456789abcdefUL));
  for (int i = 0; i < 32; i += 7) printf("%08x ", (x << i) | (x >> ((32 - i) & 31))); puts("");
  printf("%d %d\n", __builtin_parity(x), __builtin_ffs(0x80));
}
