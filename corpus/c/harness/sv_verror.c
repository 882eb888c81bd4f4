// finds: reached-error
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_error(void) __attribute__((__noreturn__));
extern void __VERIFIER_assume(int);
int main() {
  int a = __VERIFIER_nondet_int();
  __VERIFIER_assume(a > 5 && a < 8);
  if (a == 7) __VERIFIER_error(); //~ reached-error
  return 0;
}
