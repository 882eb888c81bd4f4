// stdin: 10 0x1F -7 3.5 word rest-of line 42
#include <stdio.h>
int main(void) {
  int a, b, c; double d; char w[16], tail[32];
  int n = scanf("%d %i %d %lf %15s", &a, &b, &c, &d, w); printf("%d: %d %d %d %g %s\n", n, a, b, c, d, w);
  n = scanf(" %31[^ ] %s %d", tail, w, &a); printf("%d: %s %s %d\n", n, tail, w, a);
  printf("%d\n", scanf("%d", &a)); int x, y, used; n = sscanf("12,34;", "%d,%d%n", &x, &y, &used); printf("%d %d %d %d\n", n, x, y, used);
  printf("%d\n", sscanf("abc", "%d", &x)); char h; printf("%d %c\n", sscanf("q9", "%c", &h), h);
}
