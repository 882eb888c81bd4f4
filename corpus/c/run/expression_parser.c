// stdin: 1+2*(3-4)/2-(-5)\n2*(3\n10/(5-5)\n
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
static const char *at; static jmp_buf fail; static int expr(void);
static int factor(void) { if (*at == '(') { at++; int v = expr(); if (*at++ != ')') longjmp(fail, 1); return v; } if (*at == '-') { at++; return -factor(); } if (!isdigit((unsigned char)*at)) longjmp(fail, 2); int v = 0; while (isdigit((unsigned char)*at)) v = v * 10 + (*at++ - '0'); return v; }
static int term(void) { int v = factor(); while (*at == '*' || *at == '/') { char o = *at++; int r = factor(); if (o == '/' && !r) longjmp(fail, 3); v = o == '*' ? v * r : v / r; } return v; }
static int expr(void) { int v = term(); while (*at == '+' || *at == '-') { char o = *at++; int r = term(); v = o == '+' ? v + r : v - r; } return v; }
int main(void) { char line[64]; while (fgets(line, sizeof line, stdin)) { at = line; int code = setjmp(fail); if (code) printf("error %d\n", code); else { int v = expr(); printf(*at == '\n' ? "%d\n" : "%d?\n", v); } } }
