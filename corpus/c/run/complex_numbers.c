#include <complex.h>
#include <stdio.h>
int main(void) { double complex z = 1 + 2 * I, w = z * (3 - I) + 0.5; float complex f = 2.0f - I; printf("%.2f %.2f %.1f %.1f\n", __real__ w, __imag__ w, (double)__real__ f, (double)__imag__ f); }
