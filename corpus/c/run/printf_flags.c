#include <stdio.h>
int main(void) {
  printf("[%5d][%-5d][%05d][%+d][% d][%x][%#x][%X][%o][%#o]\n", 42, 42, 42, 42, 42, 255, 255, 255, 8, 8);
  printf("[%.3d][%8.3d][%-8.3d][%.0d][%ld][%hhd][%hd]\n", 7, 7, 7, 0, -5000000000L, 300, 70000);
  printf("[%s][%10s][%-10s][%.2s][%c][%%][%5c]\n", "abc", "abc", "abc", "abc", 'z', 'q');
  printf("[%*d][%-*d][%.*s]\n", 6, 12, 6, 12, 2, "wxyz"); char b[16]; int n = snprintf(b, sizeof b, "%d-%s", 123456, "truncated"); printf("%d %s\n", n, b);
  printf("%p %s\n", (void *)0, (char *)0 ? "x" : "null"); int at; printf("abc%n", &at); printf("%d\n", at); printf("%zu %jd %td\n", sizeof(long), (long)-1, (long)5);
}
