// The length is cut to a byte for the allocation, and not for the use.
#include <stdlib.h>
#include <string.h>
extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint();
  if (n > 300) return 0;
  unsigned char len = (unsigned char)n;
  char *text = malloc(len + 1u);
  if (!text) return 0;
  memset(text, 0, n); //~ out-of-bounds
  free(text);
  return 0;
}
