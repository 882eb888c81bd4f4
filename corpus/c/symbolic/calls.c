// Recursion and calls through pointers, both by input.
#include <stdio.h>
int klee_range(int, int, const char *);
static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int neg(int n) { return -n; }
int main(void) {
  int (*f[3])(int) = {fact, fib, neg};
  int r = f[klee_range(0, 3, "which")](klee_range(0, 5, "n"));
  printf("%c", r > 5 ? 'b' : 's');
  return r & 0x7f;
}
