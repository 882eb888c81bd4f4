// The parts of math.h that take numbers apart and put them together.
#include <math.h>
#include <stdio.h>
int main(void) {
  double values[] = {0.0, 1.0, -2.5, 3.75, 1e-310, 1e300, 0.1, -0.0, 12345.678};
  for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
    double x = values[i], whole;
    int power;
    double part = frexp(x, &power), rest = modf(x, &whole);
    printf("%g: %.17g*2^%d %g+%g %ld %ld %d %g\n", x, part, power, whole, rest, fabs(x) < 1e9 ? lround(x) : 0,
           fabs(x) < 1e9 ? lrint(x) : 0, x != 0 ? ilogb(x) : 0, nextafter(x, 10));
  }
  printf("%g %g %g %g\n", fmin(1, NAN), fmax(-1, 2), fdim(5, 3), fdim(3, 5));
  printf("%g %g %g\n", ldexp(0.75, 4), scalbn(3, -2), 0.0);
  printf("%d %d %d %d %d\n", isnan(NAN) != 0, isinf(INFINITY) != 0, isfinite(1e308) != 0, signbit(-0.0) != 0,
         fpclassify(1e-310) == FP_SUBNORMAL);
  printf("%.10f %.10f %.10f %.10f\n", sin(1), exp(1.5), pow(2, 0.5), atan2(1, -1));
  printf("%.6f %.6f %.6f %.6f\n", log1p(0.5), expm1(0.5), cbrt(27), hypot(3, 4));
  printf("%.0f %.0f %.0f %.0f %.0f\n", floor(-1.5), ceil(-1.5), trunc(-1.5), round(-1.5), rint(-1.5));
  return 0;
}
