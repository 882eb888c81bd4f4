/* Names of files: libgen.h, fnmatch.h. */
#include "model.h"
char *strrchr(const char *s, int c);
int strncmp(const char *a, const char *b, size_t count);
int isalnum(int c), isblank(int c), iscntrl(int c), isgraph(int c), islower(int c), isprint(int c), ispunct(int c), isxdigit(int c);

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
  if (path[0] == '/' && path[1] == '/' && !path[2]) return path;
  trim(path);
  char *slash = strrchr(path, '/');
  if (!slash) return here;
  while (slash > path && slash[-1] == '/') slash--;
  /* Two slashes at the start are a place of their own; three are one. */
  if (slash == path) slash += 1 + (path[1] == '/' && path[2] != '/');
  *slash = 0;
  return path;
}

enum { PATHNAME = 1, NOESCAPE = 2, PERIOD = 4, LEADING_DIR = 8, CASEFOLD = 16, EXTENDED = 32, NOMATCH = 1 };
static int folded(int c, int flags) { return flags & CASEFOLD ? tolower(c) : c; }
/* Where the name of a class in brackets ends (`p` is behind `[:`), or NULL where none is written there. */
static const char *class_end(const char *p) {
  for (; *p != ':' || p[1] != ']'; p++)
    if (*p < 'a' || *p > 'y') return NULL;
  return p;
}
/* Whether a character is of a class; -1 if there is no such class. */
static int is_of_class(int c, const char *name, size_t n) {
  static const struct {
    const char *name;
    int (*is)(int);
  } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                 {"lower", islower}, {"print", isprint}, {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
  for (int i = 0; i < 12; i++)
    if (strlen(classes[i].name) == n && !strncmp(classes[i].name, name, n)) return classes[i].is(c) != 0;
  return -1;
}
enum brackets { OTHER, MATCHED, OPEN, WRONG };
/* Reads one member of a set in brackets, `*from` on: whether `c` is that, and where the next member is. */
static enum brackets member(const char **from, int c, int skips, int flags) {
  const char *p = *from, *end;
  int low = (unsigned char)*p++, found;
  if (low == '\\' && !(flags & NOESCAPE)) {
    if (!*p) return WRONG;
    low = (unsigned char)*p++;
  } else if (low == '[' && *p == ':' && (end = class_end(p + 1))) {
    found = is_of_class(c, p + 1, (size_t)(end - p - 1));
    *from = end + 2;
    return found < 0 && !skips ? WRONG : found > 0 ? MATCHED : OTHER;
  } else if (low == '[' && (*p == '=' || *p == '.')) {
    if (!p[1] || p[2] != *p || p[3] != ']') __parallax_refuse("fnmatch with the name of a collating element");
    low = (unsigned char)p[1], p += 4;
  }
  if (!low) return OPEN;
  int high = low;
  if (*p == '-' && p[1] && p[1] != ']') {
    high = (unsigned char)*++p, p++;
    if (high == '\\' && !(flags & NOESCAPE)) high = (unsigned char)*p++;
    if (!high) return WRONG;
    if (high == '[' && (*p == '=' || *p == '.' || *p == ':')) __parallax_refuse("fnmatch with a range up to a class");
  }
  *from = p;
  c = folded(c, flags);
  return folded(low, flags) <= c && c <= folded(high, flags) ? MATCHED : OTHER;
}
/* A set in brackets, `p` behind the first: where it ends if the character is in it, or NULL. */
static const char *set(const char *p, int c, int flags, enum brackets *result) {
  int negated = *p == '!' || *p == '^';
  if (negated) p++;
  enum brackets in = OTHER;
  for (int first = 1;; first = 0) {
    if (*p == ']' && !first) break;
    /* What stands behind a member that matches is skipped, whatever classes it names. */
    enum brackets one = member(&p, c, in == MATCHED, flags);
    if (one == OPEN || one == WRONG) {
      *result = one == OPEN && in == OTHER ? OPEN : WRONG;
      return NULL;
    }
    if (one == MATCHED) in = MATCHED;
  }
  *result = (in == MATCHED) != negated ? MATCHED : OTHER;
  return p + 1;
}
/* `hidden`: a full stop here has to be written as one. */
static int matches(const char *p, const char *s, int hidden, int flags) {
  for (; *p; p++) {
    int c = (unsigned char)*s, slash = c == '/' && (flags & PATHNAME), dot = c == '.' && hidden;
    if (*p == '*') {
      if (dot) return NOMATCH;
      for (p++; *p == '*' || *p == '?'; p++)
        if (*p == '?') {
          if (!*s || (*s == '/' && (flags & PATHNAME))) return NOMATCH;
          s++, hidden = 0;
        }
      for (;; s++, hidden = 0) {
        if (!*p && (!*s || ((flags & LEADING_DIR) && *s == '/'))) return 0;
        if (*p && !matches(p, s, hidden, flags & PATHNAME ? flags : flags & ~PERIOD)) return 0;
        if (!*s || (*s == '/' && (flags & PATHNAME))) return NOMATCH;
      }
    }
    if (*p == '?') {
      if (!c || slash || dot) return NOMATCH;
    } else {
      enum brackets in = OPEN;
      if (*p == '[') {
        if (!c || slash || dot) return NOMATCH;
        const char *after = set(p + 1, c, flags, &in);
        if (in == OTHER || in == WRONG) return NOMATCH;
        if (in == MATCHED) p = after - 1;
      }
      if (in == OPEN) {
        if (*p == '\\' && !(flags & NOESCAPE) && !*++p) return NOMATCH;
        if (!c || folded((unsigned char)*p, flags) != folded(c, flags)) return NOMATCH;
      }
    }
    s++;
    hidden = slash && *p == '/' && (flags & PERIOD);
  }
  return *s && !((flags & LEADING_DIR) && *s == '/') ? NOMATCH : 0;
}
int fnmatch(const char *pattern, const char *string, int flags) {
  if (flags & EXTENDED) __parallax_refuse("fnmatch with extended patterns");
  return matches(pattern, string, (flags & PERIOD) != 0, flags);
}
