#include <ctype.h>
#include <stdio.h>
int main(void) { int n[9] = {0}; for (int c = 0; c < 256; c++) { n[0] += !!isalpha(c); n[1] += !!isdigit(c); n[2] += !!isspace(c); n[3] += !!ispunct(c); n[4] += !!isprint(c); n[5] += !!isxdigit(c); n[6] += !!iscntrl(c); n[7] += !!isupper(c); n[8] += tolower(c) != c; }
  for (int i = 0; i < 9; i++) printf("%d ", n[i]); const char *s = "MiXed 123"; for (; *s; s++) putchar(isupper(*s) ? tolower(*s) : toupper(*s)); puts(""); }
