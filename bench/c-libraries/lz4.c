/* Sixteen unknown bytes are unpacked into thirty-two. */
#include <klee/klee.h>
#include "lz4.h"

int main(void) {
  char packed[16], out[32];
  klee_make_symbolic(packed, sizeof packed, "packed");
  return LZ4_decompress_safe(packed, out, sizeof packed, sizeof out) < 0;
}
