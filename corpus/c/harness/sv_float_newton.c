// clean
extern float __VERIFIER_nondet_float(void);
extern void reach_error(void);
extern void abort(void);
int main() {
  float x = __VERIFIER_nondet_float();
  if (!(x >= 0.0f && x <= 10.0f)) return 0;
  float y = x * 2.0f;
  if (y < x) reach_error();
  if (y > 20.0f) reach_error();
  return 0;
}
