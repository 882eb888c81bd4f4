// clean
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
void reach_error() { __assert_fail("0", "loop.c", 3, "reach_error"); }
void __VERIFIER_assert(int cond) {
  if (!(cond)) {
  ERROR:
    {
      reach_error();
      abort();
    }
  }
  return;
}
extern int __VERIFIER_nondet_int(void);
int main() {
  int i = 0, n = __VERIFIER_nondet_int();
  if (n < 0 || n > 10) return 0;
  int s = 0;
  while (i < n) {
    s += i;
    i++;
  }
  __VERIFIER_assert(2 * s == n * (n - 1));
  return 0;
}
