// finds: reached-error
extern _Bool __VERIFIER_nondet_bool(void);
extern void reach_error(void);
int main() {
  _Bool a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet_bool();
  int n = a + b;
  if (n == 2) reach_error(); //~ reached-error
  if (n > 2) reach_error();
  return 0;
}
