// The contract of the function that contract_apart_true.c is entered at.
#include <parallax.h>
PX_CONTRACT(both)(char *to, const char *text, unsigned long room) {
  PX_REQUIRES(PX_STRING(text) && PX_BYTES(to, room) && PX_APART(to, text));
}
