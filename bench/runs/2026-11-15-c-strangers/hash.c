#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
struct e { struct e *n; char *k; int v; };
static struct e *t[16];
static uint32_t h(const char *s) { uint32_t x = 2166136261u; while (*s) { x ^= (unsigned char)*s++; x *= 16777619u; } return x; }
static void put(const char *k, int v) { struct e **p = &t[h(k) % 16]; for (; *p; p = &(*p)->n) if (!strcmp((*p)->k, k)) { (*p)->v = v; return; } struct e *x = malloc(sizeof *x); if (!x) exit(3); x->k = strdup(k); x->v = v; x->n = 0; *p = x; }
static int del(const char *k) { struct e **p = &t[h(k) % 16]; for (; *p; p = &(*p)->n) if (!strcmp((*p)->k, k)) { struct e *x = *p; *p = x->n; free(x->k); free(x); return 1; } return 0; }
int main(void) { char line[32]; int n = 0; while (fgets(line, sizeof line, stdin)) { line[strcspn(line, "\n")] = 0; if (line[0] == '+') put(line + 1, n++); else if (line[0] == '-') { if (!del(line + 1)) return 1; } else return 2; } int c = 0; for (int i = 0; i < 16; i++) for (struct e *x = t[i], *y; x; x = y) { y = x->n; c++; free(x->k); free(x); } printf("%d\n", c); return 0; }
