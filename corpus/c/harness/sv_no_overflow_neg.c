// finds: overflow
// checks: overflow
extern int __VERIFIER_nondet_int(void);
int main() {
  int x = __VERIFIER_nondet_int();
  int z = -x; //~ overflow
  z = x / -1;
  return z > 0;
}
