// stdin: Many hands make light work.
#include <stdio.h>
int main(void) { static const char t[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; unsigned char b[3]; size_t n; while ((n = fread(b, 1, 3, stdin)) > 0) { for (size_t i = n; i < 3; i++) b[i] = 0; char o[4] = {t[b[0] >> 2], t[(b[0] & 3) << 4 | b[1] >> 4], n > 1 ? t[(b[1] & 15) << 2 | b[2] >> 6] : '=', n > 2 ? t[b[2] & 63] : '='}; fwrite(o, 1, 4, stdout); } puts(""); }
