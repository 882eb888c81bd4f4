// finds: reached-error
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error(); //~ reached-error
    abort();
  }
}
int main() {
  int a[5], b[5], i;
  for (i = 0; i < 5; i++) a[i] = __VERIFIER_nondet_int();
  for (i = 0; i < 5; i++) b[4 - i] = a[i];
  for (i = 0; i < 5; i++) __VERIFIER_assert(a[i] == b[i]);
}
