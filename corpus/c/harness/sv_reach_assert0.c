// finds: reached-error
#include <assert.h>
extern void abort(void);
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int();
int main() {
  int x = __VERIFIER_nondet_int();
  if (x == 77) reach_error(); //~ reached-error
  return 0;
}
