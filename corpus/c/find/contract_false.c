// clean
// entry: copy
// Bytes at pointers, text that ends, objects that are apart: nothing goes wrong where this holds.
#include <parallax.h>
unsigned long length(const char *text) {
  PX_REQUIRES(PX_STRING(text));
  unsigned long n = 0;
  while (text[n]) n++;
  return n;
}
int copy(char *to, const char *from, unsigned long room) {
  PX_REQUIRES(PX_STRING(from) && PX_BYTES(to, room) && PX_APART(to, from));
  unsigned long n = length(from);
  if (n >= room) return -1;
  for (unsigned long i = 0; i <= n; i++) to[i] = from[i];
  PX_ENSURES(length(to) == n);
  return 0;
}
