// finds: out-of-bounds
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
char *cstrcpy(char *s1, const char *s2) {
  char *dst = s1;
  const char *src = s2;
  while ((*dst++ = *src++) != '\0'); //~ out-of-bounds
  return s1;
}
int main() {
  int l1 = __VERIFIER_nondet_int(), l2 = __VERIFIER_nondet_int();
  if (l1 < 1 || l1 > 4) l1 = 1;
  if (l2 < 1 || l2 > 4) l2 = 1;
  char *a = (char *)alloca(l1), *b = (char *)alloca(l2);
  for (int i = 0; i < l2 - 1; i++) b[i] = 'x';
  b[l2 - 1] = 0;
  cstrcpy(a, b);
  return 0;
}
