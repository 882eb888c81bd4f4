// symbolic-stdin: 3
// A decoder that trusts the first byte of a character for its length.
#include <stdio.h>
static int decode(const unsigned char *s, unsigned *point) {
  if (s[0] < 0x80) { *point = s[0]; return 1; }
  int len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  *point = s[0] & (0xff >> (len + 1));
  for (int i = 1; i < len; i++) *point = *point << 6 | (s[i] & 0x3f); //~ out-of-bounds
  return len;
}
int main(void) {
  unsigned char text[3];
  unsigned point = 0;
  size_t n = fread(text, 1, sizeof text, stdin);
  for (size_t i = 0; i < n;) i += (size_t)decode(text + i, &point);
  return point > 0x10ffff;
}
