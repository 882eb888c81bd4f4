#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
struct box { int a; char pad; int inner[5]; long tail; };
#define container_of(p, type, field) ((type *)((char *)(p) - offsetof(type, field)))
int main(void) { int a[10]; for (int i = 0; i < 10; i++) a[i] = i * 10; int *p = a + 3, *q = &a[8]; printf("%td %d %d %d\n", q - p, p[2], *(q - 1), p < q); int **pp = &p; ++*pp; printf("%d\n", *p); struct box b = {1, 2, {3, 4, 5, 6, 7}, 8}; int *in = &b.inner[2]; struct box *back = container_of(in, struct box, inner[2]); printf("%d %ld %zu\n", back == &b, back->tail, offsetof(struct box, tail)); uintptr_t bits = (uintptr_t)&b.tail; long *again = (long *)(bits & ~(uintptr_t)7); printf("%ld %d\n", *again, (int)(bits & 7)); char *bytes = (char *)&b; printf("%d %d\n", bytes[0], *(int *)(bytes + offsetof(struct box, inner))); void *tagged = (void *)((uintptr_t)a | 1); printf("%d %d\n", (int)((uintptr_t)tagged & 1), *(int *)((uintptr_t)tagged ^ 1)); }
