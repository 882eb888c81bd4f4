// finds: out-of-bounds
extern int __VERIFIER_nondet_int(void);
#include <stdlib.h>
int main() {
  int n = __VERIFIER_nondet_int();
  if (n < 1 || n > 5) return 0;
  int *a = alloca(n * sizeof(int));
  for (int i = 0; i <= n; i++) a[i] = 0; //~ out-of-bounds
  return 0;
}
