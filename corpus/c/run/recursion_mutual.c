#include <stdio.h>
static int odd(unsigned n); static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); } static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static void hanoi(int n, char a, char b, char c, int *moves) { if (!n) return; hanoi(n - 1, a, c, b, moves); ++*moves; if (n == 4) printf("%c->%c ", a, b); hanoi(n - 1, c, b, a, moves); }
static void permute(char *s, int k, int *n) { if (!s[k]) { if (++*n % 6 == 0) printf("%s ", s); return; } for (int i = k; s[i]; i++) { char t = s[k]; s[k] = s[i]; s[i] = t; permute(s, k + 1, n); t = s[k]; s[k] = s[i]; s[i] = t; } }
int main(void) { printf("%d %d\n", even(200), odd(77)); int m = 0; hanoi(6, 'A', 'B', 'C', &m); printf("%d\n", m); char s[] = "abcd"; int n = 0; permute(s, 0, &n); printf("%d\n", n); }
