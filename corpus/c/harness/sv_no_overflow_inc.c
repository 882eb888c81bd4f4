// finds: overflow
// checks: overflow
extern int __VERIFIER_nondet_int(void);
int main() {
  int x = __VERIFIER_nondet_int();
  x++; //~ overflow
  unsigned u = x;
  u = u * u;
  u <<= 3;
  return u > 3;
}
