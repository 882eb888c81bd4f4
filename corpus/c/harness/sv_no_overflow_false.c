// finds: overflow
// checks: overflow
extern int __VERIFIER_nondet_int(void);
int main() {
  int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
  if (y > 0) {
    int z = x + y; //~ overflow
    return z > 0;
  }
  return 0;
}
