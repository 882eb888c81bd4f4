#include "../liblzf-3.6/lzf_d.c"
#include <stdio.h>
int main(void) {
  char in[6], back[20]; size_t n = fread(in, 1, sizeof in, stdin);
  unsigned d = lzf_decompress(in, n, back, sizeof back);
  printf("%u\n", d);
  return 0;
}
