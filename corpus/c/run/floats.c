#include <stdio.h>
#include <math.h>
int main(void) {
  double x = 0.1, y = 0.2; float f = 1.0f / 3; long double l = 2.0L / 3;
  printf("%.17g %.9g %Lf\n", x + y, f, l);
  printf("%f %e %g %g %g\n", 3.14159, 31415.9, 1e-5, 123456789.0, 100000.0);
  printf("%.0f %.1f %5.2f|%-8.3f|%08.2f|%+g\n", 2.5, 0.05, 9.999, 1.0, -3.14159, 7.0);
  printf("%d %d %d\n", (int)2.9, (int)-2.9, (int)1e9f);
  printf("%d %d %d\n", x < y, x + y == 0.3, (float)0.1 == 0.1);
  double nan = NAN, inf = INFINITY; printf("%f %f %d %d %d\n", inf, -inf, nan == nan, nan < 1, isnan(nan));
  printf("%.10f %.10f %.10f %.10f\n", sqrt(2), pow(2, 0.5), sin(1), exp(1));
  printf("%g %g %g %g %g\n", floor(-1.5), ceil(-1.5), trunc(-1.5), round(-1.5), fabs(-1.5));
  printf("%g %g\n", fmod(7.5, 2), hypot(3, 4)); printf("%a\n", 1.0 / 3);
  unsigned long big = 18446744073709551615UL; printf("%.1f %lu\n", (double)big, (unsigned long)1e19);
}
