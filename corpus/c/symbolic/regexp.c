// symbolic-stdin: 5
// Matching an unknown text against ^h.*l+$ by backtracking.
#include <stdio.h>
static int here(const char *re, const char *text);
static int star(char c, const char *re, const char *text) {
  do if (here(re, text)) return 1;
  while (*text != 0 && (*text++ == c || c == '.'));
  return 0;
}
static int here(const char *re, const char *text) {
  if (!re[0]) return 1;
  if (re[1] == '*') return star(re[0], re + 2, text);
  if (re[0] == '$' && !re[1]) return *text == 0;
  if (*text != 0 && (re[0] == '.' || re[0] == *text)) return here(re + 1, text + 1);
  return 0;
}
int main(void) {
  char text[6] = {0};
  fread(text, 1, 5, stdin);
  int yes = here("h.*l$", text);
  puts(yes ? "match" : "no");
  return yes;
}
