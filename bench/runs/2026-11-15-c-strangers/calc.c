#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
static const char *p; static int err;
static long expr(void);
static void ws(void) { while (isspace((unsigned char)*p)) p++; }
static long prim(void) { ws(); if (*p == '(') { p++; long v = expr(); ws(); if (*p == ')') p++; else err = 1; return v; } if (*p == '-') { p++; return -prim(); } if (!isdigit((unsigned char)*p)) { err = 1; return 0; } char *e; long v = strtol(p, &e, 10); p = e; return v; }
static long term(void) { long v = prim(); for (;;) { ws(); if (*p == '*') { p++; v *= prim(); } else if (*p == '/') { p++; long d = prim(); v /= d; } else return v; } }
static long expr(void) { long v = term(); for (;;) { ws(); if (*p == '+') { p++; v += term(); } else if (*p == '-') { p++; v -= term(); } else return v; } }
int main(int argc, char **argv) { if (argc != 2) { fprintf(stderr, "usage\n"); return 2; } p = argv[1]; long v = expr(); ws(); if (*p || err) { puts("error"); return 1; } printf("%ld\n", v); return 0; }
