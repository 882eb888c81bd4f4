#include <stdio.h>
static int calls; static int yes(void) { calls++; return 1; } static int no(void) { calls += 10; return 0; }
int main(void) { int r = (no() && yes()) || (yes() && !no()); printf("%d %d\n", r, calls); int i = 5, j = i++ + ++i; printf("%d %d\n", i, j > 10); int x = (calls = 3, calls * 2); printf("%d %d %d\n", x, i > 3 ? j ? 1 : 2 : 3, !!x); do i--; while (i > 2); while (i-- > 0) if (i == 1) break; printf("%d\n", i); for (int a = 0, b = 10; a < b; a++, b -= 2) printf("%d:%d ", a, b); puts(""); }
