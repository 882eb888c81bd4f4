// clean
extern int __VERIFIER_nondet_int();
extern void reach_error();
int main() {
  int s = 0, n = 0;
L0:
  if (n == 5) goto DONE;
  switch (s) {
  case 0:
    s = __VERIFIER_nondet_int() ? 1 : 2;
    break;
  case 1:
    s = 2;
    break;
  case 2:
    s = 0;
    break;
  default:
    goto ERR;
  }
  n++;
  goto L0;
ERR:
  reach_error();
DONE:
  return 0;
}
