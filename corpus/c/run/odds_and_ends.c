#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
struct flex { int n; int data[]; };
int main(void) { struct flex *f = malloc(sizeof *f + 3 * sizeof(int)); f->n = 3; for (int i = 0; i < f->n; i++) f->data[i] = i - 1; printf("%d %zu\n", f->data[2], sizeof *f); free(f); div_t d = div(-17, 5); printf("%d %d %d\n", d.quot, d.rem, abs(-3)); printf("%d %d\n", strcasecmp("HeLLo", "hello"), strncasecmp("abX", "ABy", 2)); char *s = strdup("a,b,,c"), *r = s, *t; while ((t = strsep(&r, ","))) printf("[%s]", t); puts(""); free(s); printf("%" PRId64 " %" PRIx32 "\n", INT64_C(-5), UINT32_C(0xabc)); char a[2][3] = {"ab", "cd"}; printf("%.2s%.2s %d\n", a[0], a[1], memcmp(a[0], a[1], 2) < 0); volatile int v = 3; v += v; printf("%d\n", v); register int q = sizeof(int[3]); printf("%d %d\n", q, (int)_Alignof(double)); printf("%s\n", __func__); }
