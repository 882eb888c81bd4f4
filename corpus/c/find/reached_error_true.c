// finds: reached-error
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 0 && n < 4);
  int sum = 0;
  for (int i = 0; i < n; i++) sum += __VERIFIER_nondet_uchar();
  if (sum == 700) reach_error(); //~ reached-error
  return 0;
}
