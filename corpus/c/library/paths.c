// args: 1 60
// fnmatch.h and libgen.h: patterns and paths of few characters.
#define _GNU_SOURCE
#include "probe.h"
#include <fnmatch.h>
char *__xpg_basename(char *path);
char *dirname(char *path);

static void name(char *out, const char *const *parts, unsigned kinds, unsigned most) {
  *out = 0;
  for (unsigned n = below(most + 1); n; n--) strcat(out, parts[below(kinds)]);
}
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) {
    static const char *const pieces[] = {"a", "b", "*", "?", "/", ".", "[ab]", "[!a]", "[^b-z]", "\\", "[[:alpha:]]", "[[:digit:].]",
                                         "[a", "]", "[]-a]", "[\\]]", "-", "[a-]", "**", "A", "[[:upper:]]", "[/]", "[a\\-z]", "[!]a-]", "[[:x:]]"};
    static const char *const letters[] = {"a", "b", "/", ".", "A", "]", "\\", "-", "1"};
    char pattern[128], text[64], path[64];
    name(pattern, pieces, 25, 4), name(text, letters, 9, 4);
    for (int flags = 0; flags < 32; flags++)
      if (below(3) == 0) show(pattern), putchar(' '), show(text), printf(" %d: %d\n", flags, fnmatch(pattern, text, flags));
    static const char *const folders[] = {"/", "a", ".", "bc", "//"};
    name(path, folders, 5, 5);
    show(path), putchar(' '), show(basename(path));
    char copy[64];
    strcpy(copy, path);
    putchar(' '), show(__xpg_basename(copy));
    strcpy(copy, path);
    putchar(' '), show(dirname(copy)), putchar('\n');
  }
  printf("%s %s\n", __xpg_basename(NULL), dirname(NULL));
  return 0;
}
