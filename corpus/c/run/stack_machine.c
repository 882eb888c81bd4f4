// stdin: 3 4 + 2 * 7 - dup * .
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long stack[32]; static int depth;
static long pop(void) { if (!depth) { puts("underflow"); exit(2); } return stack[--depth]; }
int main(void) { char w[16]; while (scanf("%15s", w) == 1) { if (!strcmp(w, "dup")) { long a = pop(); stack[depth++] = a; stack[depth++] = a; } else if (!strcmp(w, ".")) printf("%ld\n", pop()); else if (strchr("+-*/", w[0]) && !w[1]) { long b = pop(), a = pop(); stack[depth++] = w[0] == '+' ? a + b : w[0] == '-' ? a - b : w[0] == '*' ? a * b : a / b; } else stack[depth++] = strtol(w, NULL, 10); } pop(); return 0; }
