// clean
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int fib(int n) {
  if (n < 1) return 0;
  if (n == 1) return 1;
  return fib(n - 1) + fib(n - 2);
}
int main() {
  int x = __VERIFIER_nondet_int();
  if (x > 7 || x < 0) return 0;
  int r = fib(x);
  if (r >= x - 1)
    return 0;
  else {
    reach_error();
  }
}
