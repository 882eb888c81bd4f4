/* The parts of math.h that are plain arithmetic. */
#include "model.h"

double floor(double x), trunc(double x), round(double x), rint(double x), fabs(double x), ldexp(double x, int by);
float roundf(float x), rintf(float x), truncf(float x);

static unsigned long bits(double x) {
  unsigned long b;
  memcpy(&b, &x, 8);
  return b;
}
static double number(unsigned long b) {
  double x;
  memcpy(&x, &b, 8);
  return x;
}
long lround(double x) { return (long)round(x); }
long long llround(double x) { return (long long)round(x); }
long lrint(double x) { return (long)rint(x); }
long long llrint(double x) { return (long long)rint(x); }
long lroundf(float x) { return (long)roundf(x); }
long lrintf(float x) { return (long)rintf(x); }
double fmin(double a, double b) { return a != a ? b : b != b ? a : a < b ? a : b; }
double fmax(double a, double b) { return a != a ? b : b != b ? a : a < b ? b : a; }
float fminf(float a, float b) { return a != a ? b : b != b ? a : a < b ? a : b; }
float fmaxf(float a, float b) { return a != a ? b : b != b ? a : a < b ? b : a; }
double fdim(double a, double b) { return a != a || b != b ? __builtin_nan("") : a > b ? a - b : 0; }
double modf(double x, double *whole) {
  *whole = trunc(x);
  double rest = __builtin_isinf(x) ? 0 : x - *whole;
  return number((bits(rest) & ~(1UL << 63)) | (bits(x) & 1UL << 63));
}
float modff(float x, float *whole) {
  *whole = truncf(x);
  return __builtin_isinf(x) ? 0 : x - *whole;
}
double frexp(double x, int *power) {
  unsigned long b = bits(x);
  int exponent = (int)(b >> 52 & 2047);
  *power = 0;
  if (exponent == 2047 || x == 0) return x;
  if (exponent == 0) {
    b = bits(x * 18014398509481984.0); /* 2^54: no longer subnormal */
    exponent = (int)(b >> 52 & 2047) - 54;
  }
  *power = exponent - 1022;
  return number((b & ~(2047UL << 52)) | 1022UL << 52);
}
int ilogb(double x) {
  int power;
  if (x == 0) return -2147483647 - 1;
  if (__builtin_isinf(x)) return 2147483647;
  if (x != x) return -2147483647 - 1;
  frexp(x, &power);
  return power - 1;
}
double logb(double x) {
  if (x == 0) return -__builtin_inf();
  if (__builtin_isinf(x)) return __builtin_inf();
  return x != x ? x : ilogb(x);
}
float ldexpf(float x, int by);
long double ldexpl(long double x, int by);
double scalbn(double x, int by) { return ldexp(x, by); }
float scalbnf(float x, int by) { return ldexpf(x, by); }
long double scalbnl(long double x, int by) { return ldexpl(x, by); }
double scalbln(double x, long by) { return ldexp(x, by > 10000 ? 10000 : by < -10000 ? -10000 : (int)by); }
double nan(const char *tag) {
  (void)tag;
  return __builtin_nan("");
}
double nextafter(double x, double to) {
  if (x != x || to != to) return x + to;
  if (x == to) return to;
  if (x == 0) return number(1UL | (bits(to) & 1UL << 63));
  return number(bits(x) + ((x < to) == (x > 0) ? 1 : -1UL));
}
/* What the macros of older headers call. */
int __isnan(double x) { return x != x; }
int __isinf(double x) { return __builtin_isinf(x) ? (x > 0 ? 1 : -1) : 0; }
int __finite(double x) { return !__builtin_isinf(x) && x == x; }
int isnan(double x) { return x != x; }
int isinf(double x) { return __isinf(x); }
int finite(double x) { return __finite(x); }
int __isnanf(float x) { return x != x; }
int __isinff(float x) { return __isinf(x); }
int __finitef(float x) { return __finite(x); }
int __signbit(double x) { return (int)(bits(x) >> 63); }
int __signbitf(float x) { return __signbit(x); }
int __fpclassify(double x) {
  if (x != x) return 0;
  if (__builtin_isinf(x)) return 1;
  if (x == 0) return 2;
  return (bits(x) >> 52 & 2047) == 0 ? 3 : 4;
}
int __fpclassifyf(float x) {
  unsigned b;
  memcpy(&b, &x, 4);
  if (x != x) return 0;
  if (__builtin_isinf(x)) return 1;
  if (x == 0) return 2;
  return (b >> 23 & 255) == 0 ? 3 : 4;
}
double fmod(double x, double y);
/* What is left of a division whose quotient is rounded to the nearest, ties to even; every step is exact. */
double remainder(double x, double y) {
  if (x != x || y != y || y == 0 || __builtin_isinf(x)) return __builtin_nan("");
  double size = fabs(y), rest = fabs(x);
  if (size < 0x1p1023) rest = fmod(rest, 2 * size);
  if (rest > size / 2) {
    rest -= size;
    if (rest >= size / 2) rest -= size;
  }
  return number(bits(rest) ^ (bits(x) & 1UL << 63));
}
double drem(double x, double y) { return remainder(x, y); }

/* complex.h, as far as it is not built in. */
double hypot(double x, double y);
float hypotf(float x, float y);
double atan2(double y, double x);
double cabs(double _Complex z) { return hypot(__real__ z, __imag__ z); }
float cabsf(float _Complex z) { return hypotf(__real__ z, __imag__ z); }
double carg(double _Complex z) { return atan2(__imag__ z, __real__ z); }
