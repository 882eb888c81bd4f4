/* Eight unknown bytes are unpacked into sixteen. */
#include <klee/klee.h>
#include "lz4.h"

int main(void) {
  char packed[8], out[16];
  klee_make_symbolic(packed, sizeof packed, "packed");
  return LZ4_decompress_safe(packed, out, sizeof packed, sizeof out) < 0;
}
