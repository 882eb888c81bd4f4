// Arithmetic, division, unsigned and signed comparisons.
#include <stdio.h>
int klee_int(const char *);
int main(void) {
  int a = klee_int("a"), b = klee_int("b");
  unsigned u = (unsigned)a * 37u >> 4;
  if (a > b) putchar('>'); else if ((unsigned)a > (unsigned)b) putchar('u'); else putchar('.');
  if ((a & 15) % ((b & 7) + 1) == 0) putchar('|');
  switch (u & 3) { case 0: putchar('0'); break; case 2: putchar('2'); break; default: putchar('x'); }
  return (a ^ b) & 0x7f;
}
