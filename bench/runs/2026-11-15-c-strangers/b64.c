#include "../libb64-1.2.orig/include/b64/cdecode.h"
#include "../libb64-1.2.orig/src/cdecode.c"
#include <stdio.h>
int main(void) {
  base64_decodestate s; char in[5], out[8]; 
  base64_init_decodestate(&s);
  int n = fread(in, 1, 5, stdin);
  int k = base64_decode_block(in, n, out, &s);
  printf("%d\n", k);
  for (int i = 0; i < k; i++) printf("%02x", (unsigned char)out[i]);
  return 0;
}
