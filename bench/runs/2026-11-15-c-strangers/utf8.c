#include "../utf8proc-2.8.0/utf8proc.c"
#include <stdio.h>
int main(void) {
  unsigned char in[4]; size_t n = fread(in, 1, 4, stdin);
  utf8proc_int32_t cp; size_t at = 0;
  while (at < n) { long k = utf8proc_iterate(in + at, n - at, &cp); if (k < 0) { printf("bad %s\n", utf8proc_errmsg(k)); return 1; } printf("%x\n", cp); at += k; }
  return 0;
}
