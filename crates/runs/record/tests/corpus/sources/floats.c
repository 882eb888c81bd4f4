// Floating point, all the way to its printing.
#include <math.h>
#include <stdio.h>
int main(void) {
    double sum = 0;
    for (int i = 1; i < 4000; i++) sum += sin(i) / sqrt(i) + exp(-i * 1e-3);
    printf("%.17g %a %Lg\n", sum, pow(sum, 3), (long double)sum / 3);
    return 0;
}
