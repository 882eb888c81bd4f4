// Matrices of doubles multiplied.
#include <stdio.h>

enum { N = 700 };
static double a[N][N], b[N][N], c[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i - j, b[i][j] = i * j % 17;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
    double sum = 0;
    for (int i = 0; i < N; i++) sum += c[i][N - 1 - i];
    printf("%g\n", sum);
    return 0;
}
