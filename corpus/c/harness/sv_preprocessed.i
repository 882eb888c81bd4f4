// finds: out-of-bounds
# 1 "preprocessed.c"
# 1 "/usr/include/stdlib.h" 1 3 4
typedef unsigned long size_t;
extern void *malloc (size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__)) __attribute__ ((__alloc_size__ (1)));
extern void free (void *__ptr) __attribute__ ((__nothrow__ , __leaf__));
static __inline __attribute__ ((__gnu_inline__)) int square (int x) { return __extension__ ({ int y = x; y * y; }); }
# 9 "preprocessed.c" 2
extern int __VERIFIER_nondet_int (void);
int main (void) {
  int *p = malloc (sizeof (int) * 3), i = __VERIFIER_nondet_int ();
# 12 "preprocessed.c"
  if (i >= 0 && i < 4) p[i] = square (i); //~ out-of-bounds
  free (p);
  return 0;
}
