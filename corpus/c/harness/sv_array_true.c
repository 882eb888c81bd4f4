// clean
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
int main() {
  int a[6], i, max;
  for (i = 0; i < 6; i++) a[i] = __VERIFIER_nondet_int();
  max = a[0];
  for (i = 1; i < 6; i++)
    if (a[i] > max) max = a[i];
  for (i = 0; i < 6; i++) __VERIFIER_assert(a[i] <= max);
  return 0;
}
