#include <stdarg.h>
#include <stdio.h>
struct pair { int a, b; }; struct big { long x[4]; };
static double sum(const char *kinds, ...) { va_list l, c; va_start(l, kinds); va_copy(c, l); double s = 0; for (const char *k = kinds; *k; k++) switch (*k) { case 'i': s += va_arg(l, int); break; case 'l': s += va_arg(l, long); break; case 'd': s += va_arg(l, double); break; case 's': s += va_arg(l, char *)[0]; break; case 'p': { struct pair p = va_arg(l, struct pair); s += p.a * p.b; break; } case 'b': { struct big b = va_arg(l, struct big); s += b.x[3]; break; } case 'L': s += (double)va_arg(l, long double); break; } va_end(l); va_end(c); return s; }
static int show(const char *f, ...) { va_list l; va_start(l, f); int n = vprintf(f, l); va_end(l); return n; }
int main(void) { struct pair p = {6, 7}; struct big b = {{1, 2, 3, 1000}}; printf("%g\n", sum("iiidddlspibL", 1, 2, 3, .5, .25, 1e3, 100L, "A", p, 9, b, 0.125L)); printf("%d\n", show("%d %s %.1f %c\n", 1, "two", 3.0, '4')); printf("%g\n", sum("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)); }
