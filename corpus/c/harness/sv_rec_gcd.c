// clean
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int gcd(int a, int b) {
  if (a <= 0 || b <= 0) return 0;
  if (a == b) return a;
  if (a > b) return gcd(a - b, b);
  return gcd(a, b - a);
}
int main() {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  if (a <= 0 || a > 8 || b <= 0 || b > 8) return 0;
  int z = gcd(a, b);
  if (z < 1 && a > 0 && b > 0) reach_error();
  return 0;
}
