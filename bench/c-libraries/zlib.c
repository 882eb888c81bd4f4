/* Six unknown bytes are inflated as a stream without a header. */
#include <klee/klee.h>
#include <string.h>
#include <zlib.h>

int main(void) {
  unsigned char packed[6], out[32];
  klee_make_symbolic(packed, sizeof packed, "packed");
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  stream.next_in = packed;
  stream.avail_in = sizeof packed;
  stream.next_out = out;
  stream.avail_out = sizeof out;
  if (inflateInit2(&stream, -15) != Z_OK) return 2;
  int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return status != Z_STREAM_END;
}
