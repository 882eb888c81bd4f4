/* Names of files: libgen.h, fnmatch.h. */
#include "model.h"
char *strrchr(const char *s, int c);

/* That of string.h, which leaves its argument alone; libgen.h has the other one. */
char *basename(const char *path) {
  char *slash = strrchr(path, '/');
  return slash ? slash + 1 : (char *)path;
}
static void trim(char *path) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
}
char *__xpg_basename(char *path) {
  static char here[] = ".";
  if (!path || !*path) return here;
  trim(path);
  return path[1] ? basename(path) : path;
}
char *dirname(char *path) {
  static char here[] = ".";
  if (!path || !*path) return here;
  trim(path);
  char *slash = strrchr(path, '/');
  if (!slash) return here;
  slash[slash == path] = 0;
  trim(path);
  return path;
}

enum { PATHNAME = 1, NOESCAPE = 2, PERIOD = 4, CASEFOLD = 16, NOMATCH = 1 };
static int same(int a, int b, int flags) { return flags & CASEFOLD ? tolower(a) == tolower(b) : a == b; }
/* A set in brackets: where it ends, or nothing if it does not; whether it has the character. */
static const char *set(const char *p, int c, int flags, int *found) {
  int negated = *p == '!' || *p == '^', in = 0;
  if (negated) p++;
  const char *start = p;
  for (; *p && (*p != ']' || p == start); p++) {
    int low = (unsigned char)*p, high = low;
    if (p[1] == '-' && p[2] && p[2] != ']') high = (unsigned char)p[2], p += 2;
    if ((c >= low && c <= high) || same(c, low, flags)) in = 1;
  }
  *found = in != negated;
  return *p ? p + 1 : NULL;
}
static int matches(const char *p, const char *s, const char *start, int flags) {
  for (; *p; p++) {
    int leading = *s == '.' && (flags & PERIOD) && (s == start || ((flags & PATHNAME) && s[-1] == '/'));
    int slash = *s == '/' && (flags & PATHNAME);
    if (*p == '*') {
      if (leading) return NOMATCH;
      for (;; s++) {
        if (!matches(p + 1, s, start, flags & ~PERIOD)) return 0;
        if (!*s || (*s == '/' && (flags & PATHNAME))) return NOMATCH;
      }
    }
    if (*p == '?') {
      if (!*s || leading || slash) return NOMATCH;
      s++;
      continue;
    }
    int found = 0;
    const char *after = *p == '[' ? set(p + 1, (unsigned char)*s, flags, &found) : NULL;
    if (after) {
      if (!*s || leading || slash || !found) return NOMATCH;
      p = after - 1, s++;
      continue;
    }
    if (*p == '\\' && p[1] && !(flags & NOESCAPE)) p++;
    if (!*s || !same((unsigned char)*p, (unsigned char)*s, flags)) return NOMATCH;
    s++;
  }
  return *s ? NOMATCH : 0;
}
int fnmatch(const char *pattern, const char *string, int flags) { return matches(pattern, string, string, flags); }
