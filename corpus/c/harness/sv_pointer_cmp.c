// clean
#include <stdlib.h>
extern int __VERIFIER_nondet_int();
extern void reach_error();
int main() {
  int a, b;
  int *p = __VERIFIER_nondet_int() ? &a : &b;
  *p = 3;
  if (p == &a) {
    if (a != 3) reach_error();
  } else if (b != 3)
    reach_error();
  return 0;
}
