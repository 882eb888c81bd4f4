#include <setjmp.h>
#include <stdio.h>
static jmp_buf top; static volatile int tries;
static void deep(int n) { if (n == 0) longjmp(top, tries + 1); deep(n - 1); }
int main(void) { int code = setjmp(top); printf("code %d\n", code); if (code < 3) { tries = code; deep(code + 2); } int i = 0; again: i++; if (i < 5) goto again; printf("%d\n", i); return code; }
