// A thousand random numbers of each kind through libm and libc: scaled, taken apart, written and read back.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long seed = 88172645463325252UL;
static unsigned long next(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}
/* Subnormal, ordinary, near a power of two, halfway between two short numbers. */
static double any(void) {
  unsigned long bits = next();
  switch (next() % 6) {
  case 0: bits &= 0x800fffffffffffffUL; break;
  case 1: bits &= 0x800000000000ffffUL; break;
  case 2: bits = (bits & 0x800fffffffffffffUL) | (1000 + next() % 60) << 52; break;
  case 3: return (double)(long)(next() % 2000001 - 1000000) / 8;
  case 4: bits = (bits & 0xfff8000000000000UL) | 0x0004000000000000UL; break;
  }
  double x;
  memcpy(&x, &bits, 8);
  return x;
}
static unsigned long bits_of(double x) {
  unsigned long b;
  memcpy(&b, &x, 8);
  return x != x ? 1 : b;
}
static unsigned of_float(float x) {
  unsigned b;
  memcpy(&b, &x, 4);
  return x != x ? 1 : b;
}
static void scaling(int count) {
  unsigned long sum = 0;
  for (int i = 0; i < count; i++) {
    double x = any();
    int by = (int)(next() % 4400) - 2200, power;
    double scaled = ldexp(x, by), part = frexp(x, &power);
    sum = sum * 31 + bits_of(scaled) + bits_of(part) + of_float(ldexpf((float)x, by / 8));
    sum = sum * 31 + bits_of((double)ldexpl(x, by)) + bits_of(nextafter(x, scaled)) + bits_of(scalbn(x, -by));
    if (isfinite(x)) sum += power;
    if (i % 64 == 0) printf("%d: %016lx\n", i, sum);
  }
  printf("%a %a %d\n", ldexp(5e-324, 1074), ldexp(1, -1074), ldexp(1, 2000) > 1);
}
static void writing(int count) {
  static const char *const formats[] = {"%.*a %a\n",  "%.*e %e\n",    "%.*g %g\n",   "%#.*a %#a\n",  "%.*f %f\n",
                                        "%#.*g %g\n", "%+24.*e %G\n", "%-24.*g|%E\n", "%030.*a %A\n"};
  for (int i = 0; i < count; i++) {
    double x = any();
    printf(formats[next() % 9], (int)(next() % 18), x, x);
    if (i % 10 == 0) printf("%.*La %Lg %.*Le\n", (int)(next() % 17), (long double)x / 3, x * 7.0L, (int)(next() % 30), x * 1e-3L);
  }
}
static void reading(int count) {
  char text[80];
  for (int i = 0; i < count; i++) {
    double x = any();
    switch (next() % 4) {
    case 0: snprintf(text, sizeof text, "%.*e", (int)(next() % 25), x); break;
    case 1: snprintf(text, sizeof text, "%.*a", (int)(next() % 16), x); break;
    case 2:
      snprintf(text, sizeof text, "0x%lx.%lxp%d", next() >> next() % 64, next() >> next() % 60,
               (int)(next() % 2400) - 1200);
      break;
    default: snprintf(text, sizeof text, "%lu.%lue%dx", next() >> 40, next(), (int)(next() % 700) - 350);
    }
    char *end;
    errno = 0;
    double d = strtod(text, &end);
    int range = errno;
    errno = 0;
    float f = strtof(text, NULL);
    printf("%s %016lx %08x %d %d %ld %.5La\n", text, bits_of(d), of_float(f), range, errno, (long)(end - text),
           strtold(text, NULL));
  }
}
int main(void) {
  scaling(1000);
  writing(1000);
  reading(1000);
  return 0;
}
