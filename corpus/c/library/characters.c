// ctype.h and wctype.h: every character there is, and EOF.
#define _GNU_SOURCE
#include "probe.h"
#include <ctype.h>
#include <wchar.h>
#include <wctype.h>
int main(void) {
  for (int c = -1; c < 256; c++) {
    printf("%d: %d%d%d%d%d%d%d%d%d%d%d%d", c, !!isalnum(c), !!isalpha(c), !!isblank(c), !!iscntrl(c), !!isdigit(c), !!isgraph(c),
           !!islower(c), !!isprint(c), !!ispunct(c), !!isspace(c), !!isupper(c), !!isxdigit(c));
    printf(" %d%d %d %d %d", !!isascii(c), c < 0 ? 0 : toascii(c), tolower(c), toupper(c), (tolower)(c) + (toupper)(c));
    printf(" %d%d%d%d%d%d%d%d%d%d%d%d", !!(isalnum)(c), !!(isalpha)(c), !!(isblank)(c), !!(iscntrl)(c), !!(isdigit)(c),
           !!(isgraph)(c), !!(islower)(c), !!(isprint)(c), !!(ispunct)(c), !!(isspace)(c), !!(isupper)(c), !!(isxdigit)(c));
    if (c >= 128) {
      putchar('\n');
      continue;
    }
    wint_t w = (wint_t)c;
    printf(" %d%d%d%d%d%d%d%d%d%d%d%d", !!iswalnum(w), !!iswalpha(w), !!iswblank(w), !!iswcntrl(w), !!iswdigit(w), !!iswgraph(w),
           !!iswlower(w), !!iswprint(w), !!iswpunct(w), !!iswspace(w), !!iswupper(w), !!iswxdigit(w));
    printf(" %d %d %d %d\n", (int)towlower(w), (int)towupper(w), (int)btowc(c), wctob(w));
  }
  return 0;
}
