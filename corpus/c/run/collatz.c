#include <stdio.h>
int main(void) { int best = 0, at = 0; for (int i = 1; i < 400; i++) { long n = i; int k = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++; } if (k > best) best = k, at = i; } printf("%d %d\n", at, best); }
