// finds: reached-error
extern double __VERIFIER_nondet_double(void);
extern void reach_error(void);
int main() {
  double x = __VERIFIER_nondet_double();
  if (x > 1.0 && x < 4.0) {
    float f = (float)x;
    if ((double)f != x) reach_error(); //~ reached-error
  }
  return 0;
}
