// stdin: aaabccddddde
#include <stdio.h>
#include <stdlib.h>
int main(void) { int c, last = EOF, n = 0; char *out = NULL; size_t len = 0, room = 0; do { c = getchar(); if (c == '\n') c = EOF; if (c == last && c != EOF) n++; else { if (last != EOF) { if (len + 16 > room) out = realloc(out, room = room * 2 + 16); len += (size_t)sprintf(out + len, "%c%d", last, n); } last = c; n = 1; } } while (c != EOF); printf("%s %zu\n", out, len); free(out); }
