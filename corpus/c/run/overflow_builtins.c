#include <limits.h>
#include <stdio.h>
int main(void) { int r; long l; unsigned u; printf("%d", __builtin_add_overflow(INT_MAX, 1, &r)); printf(" %d %d", __builtin_sub_overflow(5, 3, &r), r); printf(" %d", __builtin_mul_overflow(1L << 40, 1L << 30, &l)); printf(" %d %u", __builtin_sub_overflow(1u, 2u, &u), u); printf(" %d %d\n", __builtin_mul_overflow(-46341, 46341, &r), __builtin_add_overflow(1u << 31, 1u << 31, &u)); }
