#include "../liblzf-3.6/lzf_c.c"
#include "../liblzf-3.6/lzf_d.c"
#include <stdio.h>
#include <string.h>
int main(void) {
  char in[8], out[64], back[64]; size_t n = fread(in, 1, sizeof in, stdin);
  if (n < 4) return 0;
  unsigned c = lzf_compress(in, n, out, sizeof out);
  if (!c) return 3;
  unsigned d = lzf_decompress(out, c, back, sizeof back);
  if (d != n || memcmp(in, back, n)) return 1;
  printf("%u\n", c);
  return 0;
}
