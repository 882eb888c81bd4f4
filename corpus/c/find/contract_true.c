// finds: out-of-bounds assertion
// entry: store
// What is required holds at entry, and is checked at calls; what is ensured is checked at the end.
#include <parallax.h>
static int put(char *to, unsigned long n, unsigned long at) {
  PX_REQUIRES(PX_BYTES(to, n) && n > 0); //~ assertion
  to[at] = 1; //~ out-of-bounds
  return to[0];
}
int store(char *to, unsigned long n, unsigned long at) {
  PX_REQUIRES(PX_BYTES(to, n) && n <= 4);
  if (at == 7) return put(to, n, 0);
  if (at == 8 && n > 2) return put(to, n, at);
  if (at < n) to[at] = 0;
  PX_ENSURES(at != 2); //~ assertion
  return 0;
}
