// finds: reached-error
#include <math.h>
extern float __VERIFIER_nondet_float(void);
extern void reach_error(void);
int main() {
  float f = __VERIFIER_nondet_float();
  if (isnan(f) && f == f) reach_error();
  if (isinf(f) && f > 0 && f < 1e30f) reach_error();
  if (f != f) reach_error(); //~ reached-error
  return 0;
}
