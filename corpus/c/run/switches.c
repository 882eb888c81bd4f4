#include <stdio.h>
static const char *name(int d) { switch (d) { case 0: return "zero"; case 1: case 2: return "few"; case -5: return "minus five"; case 1000: return "thousand"; default: return d < 0 ? "negative" : "many"; } }
int main(void) { int t[] = {0, 1, 2, 3, -5, -6, 1000, 999}; for (int i = 0; i < 8; i++) puts(name(t[i])); int n = 0; for (int i = 0; i < 20; i++) switch (i % 5) { case 0: n += 1; case 1: n += 10; break; case 2: continue; default: n += 100; } printf("%d\n", n); }
