// clean
extern void abort(void);
void assume_abort_if_not(int cond) {
  if (!cond) {
    abort();
  }
}
#include <assert.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int();
int main() {
  int x = __VERIFIER_nondet_int();
  assume_abort_if_not(x > 0);
  assume_abort_if_not(x < 100);
  int y = x;
  if (!(y > 0)) reach_error();
  return 0;
}
