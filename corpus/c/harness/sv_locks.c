// finds: reached-error
extern int __VERIFIER_nondet_int();
extern void reach_error();
int main() {
  int p1 = __VERIFIER_nondet_int(), lk1, p2 = __VERIFIER_nondet_int(), lk2, cond;
  int it = 0;
  while (it++ < 2) {
    cond = __VERIFIER_nondet_int();
    if (cond == 0) goto out;
    lk1 = 0;
    lk2 = 0;
    if (p1 != 0) lk1 = 1;
    if (p2 != 0) lk2 = 1;
    if (p1 != 0) {
      if (lk1 != 1) goto ERROR;
      lk1 = 0;
    }
    if (p2 != 0) {
      if (lk2 != 1) goto ERROR;
      lk2 = 2;
    }
    if (lk2 == 2 && p1 == 3) goto ERROR;
  }
out:
  return 0;
ERROR:
  reach_error(); //~ reached-error
  return 0;
}
