#include <stdio.h>
struct flags { unsigned a : 3, b : 5; signed c : 4; unsigned long d : 33; unsigned char e : 1; };
int main(void) {
  struct flags f = {0}; f.a = 9; f.b = 31; f.c = -3; f.d = 0x1ffffffffUL; f.e = 1;
  printf("%u %u %d %lx %u %zu\n", f.a, f.b, f.c, (unsigned long)f.d, f.e, sizeof f);
  struct flags g; g.a = 2; g.b = 3; g.c = 7; g.d = 1; g.e = 0; g.a++; g.c--;
  printf("%u %u %d %lu %u\n", g.a, g.b, g.c, (unsigned long)g.d, g.e);
}
