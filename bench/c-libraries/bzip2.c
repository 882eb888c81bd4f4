/* The eight bytes after the first block's header are unknown. */
#include "bzlib.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char packed[28] = "BZh11AY&SY";
  char unknown[8], out[32];
  klee_make_symbolic(unknown, sizeof unknown, "unknown");
  /* Four bytes of checksum, then one bit, three bytes of start, and the characters in use. */
  memcpy(packed + 14, unknown, sizeof unknown);
  unsigned length = sizeof out;
  return BZ2_bzBuffToBuffDecompress(out, &length, packed, sizeof packed, 1, 0) != BZ_OK;
}

/* With BZ_NO_STDIO the library asks for this function. */
void bz_internal_error(int code) { klee_assert(code == 0); }
