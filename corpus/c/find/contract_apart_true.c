// finds: assertion
// entry: both
// with: part_contracts.c
// A contract that is a function of its own is assumed at the entry and checked at calls.
#include <parallax.h>
unsigned long count(const char *text) {
  unsigned long n = 0;
  while (text[n]) n++;
  return n;
}
int both(char *to, const char *text, unsigned long room) {
  unsigned long n = count(text);
  if (n < room) to[n] = 0;
  if (room == 3) {
    to[0] = 1, to[1] = 1, to[2] = 1;
    return (int)count(to);
  }
  return (int)n;
}
PX_CONTRACT(count)(const char *text) { PX_REQUIRES(PX_STRING(text)); } //~ assertion
