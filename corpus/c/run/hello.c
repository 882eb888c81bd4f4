#include <stdio.h>
int main(void) { printf("hello, %s\n", "world"); puts("done"); putchar('x'); putchar('\n'); return 3; }
