// finds: reached-error
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
void reach_error() { __assert_fail("0", "loop.c", 3, "reach_error"); }
void __VERIFIER_assert(int cond) {
  if (!(cond)) {
  ERROR:
    {
      reach_error(); //~ reached-error
      abort();
    }
  }
  return;
}
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned int x = __VERIFIER_nondet_uint();
  if (x > 20) return 0;
  while (x % 2 == 0 && x) {
    x = x / 2;
  }
  __VERIFIER_assert(x < 19);
}
