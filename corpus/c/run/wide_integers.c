#include <stdio.h>
typedef unsigned __int128 u128; typedef __int128 i128;
static void show(u128 x) { char s[48]; int n = 0; do s[n++] = '0' + (int)(x % 10); while (x /= 10); while (n) putchar(s[--n]); putchar('\n'); }
int main(void) {
  u128 f = 1; for (int i = 1; i <= 30; i++) f *= i; show(f);
  i128 m = -((i128)1 << 100); show((u128)-m); printf("%d %d\n", m < 0, (int)(m >> 98));
  show(f / 1000000007u); show(f % 1000000007u); printf("%llx\n", (unsigned long long)(f >> 40));
  double d = (double)f; printf("%.6e\n", d);
}
