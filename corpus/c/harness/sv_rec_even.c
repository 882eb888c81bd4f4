// clean
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int isOdd(int n);
int isEven(int n) { return n == 0 ? 1 : n == 1 ? 0 : isOdd(n - 1); }
int isOdd(int n) { return n == 0 ? 0 : n == 1 ? 1 : isEven(n - 1); }
int main() {
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 12) return 0;
  if (isEven(n) != (n % 2 == 0)) reach_error();
}
