#include <stdio.h>
static int h[32], n;
static void up(int x) { int i = n++; while (i && h[(i - 1) / 2] > x) { h[i] = h[(i - 1) / 2]; i = (i - 1) / 2; } h[i] = x; }
static int down(void) { int top = h[0], x = h[--n], i = 0; for (;;) { int c = 2 * i + 1; if (c >= n) break; if (c + 1 < n && h[c + 1] < h[c]) c++; if (h[c] >= x) break; h[i] = h[c]; i = c; } h[i] = x; return top; }
int main(void) { unsigned s = 7; for (int i = 0; i < 20; i++) { s = s * 75 % 65537; up((int)(s % 100)); } while (n) printf("%d ", down()); puts(""); }
