/* What the programs here share: numbers from a seed, texts of few characters, and how both are printed. Each program calls functions
   of the library with generated arguments and prints each call with what came of it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long state = 1;
static unsigned below(unsigned bound) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)(state >> 11) % bound;
}
/* A text of these characters, of at most `most`. */
static char *text_of(char *out, const char *characters, unsigned most) {
  unsigned n = below(most + 1), kinds = (unsigned)strlen(characters);
  for (unsigned i = 0; i < n; i++) out[i] = characters[below(kinds)];
  out[n] = 0;
  return out;
}
static void show(const char *s) {
  if (!s) {
    printf("null");
    return;
  }
  putchar('"');
  for (; *s; s++)
    if (*s >= ' ' && *s < 127 && *s != '"' && *s != '\\') putchar(*s);
    else printf("\\%03o", (unsigned char)*s);
  putchar('"');
}
static int sign(long n) { return (n > 0) - (n < 0); }
/* Where a pointer is in a text. */
static long at(const char *p, const char *s) { return p ? p - s : -1; }
/* The number of rounds, from the command line, and the seed. */
static unsigned rounds(int count, char **words) {
  state = 88172645463325252UL + 7919 * (count > 1 ? strtoul(words[1], NULL, 10) : 1);
  for (int i = 0; i < 8; i++) below(2);
  return count > 2 ? (unsigned)strtoul(words[2], NULL, 10) : 100;
}
