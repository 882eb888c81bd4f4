#include <stdio.h>
static double root(double a) { double x = a; for (int i = 0; i < 30; i++) x = (x + a / x) / 2; return x; }
int main(void) { for (int i = 1; i <= 5; i++) printf("%.12f\n", root(i * 1.75)); float s = 0; for (int i = 1; i < 200; i++) s += 1.0f / i; printf("%.7f\n", s); }
