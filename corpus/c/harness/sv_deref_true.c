// clean
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main() {
  int n = __VERIFIER_nondet_int();
  if (n < 1 || n > 4) return 0;
  char *s = malloc(n);
  for (int i = 0; i < n - 1; i++) s[i] = 'a';
  s[n - 1] = 0;
  char *p = s;
  while (*p) p++;
  int len = p - s;
  free(s);
  return len;
}
