/* string.h and strings.h. */
#include "model.h"

size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}
size_t strnlen(const char *s, size_t limit) {
  size_t n = 0;
  while (n < limit && s[n]) n++;
  return n;
}
char *strcpy(char *to, const char *from) {
  size_t i = 0;
  while ((to[i] = from[i])) i++;
  return to;
}
char *stpcpy(char *to, const char *from) {
  while ((*to = *from)) to++, from++;
  return to;
}
char *strncpy(char *to, const char *from, size_t count) {
  size_t i = 0;
  for (; i < count && from[i]; i++) to[i] = from[i];
  for (; i < count; i++) to[i] = 0;
  return to;
}
char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}
char *strncat(char *to, const char *from, size_t count) {
  char *end = to + strlen(to);
  size_t i = 0;
  for (; i < count && from[i]; i++) end[i] = from[i];
  end[i] = 0;
  return to;
}
int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (int)(unsigned char)*a - (int)(unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t count) {
  for (; count; count--, a++, b++) {
    if (*a != *b) return (int)(unsigned char)*a - (int)(unsigned char)*b;
    if (!*a) return 0;
  }
  return 0;
}
int strcoll(const char *a, const char *b) { return strcmp(a, b); }
int strcasecmp(const char *a, const char *b) {
  while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
  return tolower((unsigned char)*a) - tolower((unsigned char)*b);
}
int strncasecmp(const char *a, const char *b, size_t count) {
  for (; count; count--, a++, b++) {
    int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
    if (x != y) return x - y;
    if (!x) return 0;
  }
  return 0;
}
char *strchr(const char *s, int c) {
  for (;; s++) {
    if (*s == (char)c) return (char *)s;
    if (!*s) return NULL;
  }
}
char *strchrnul(const char *s, int c) {
  while (*s && *s != (char)c) s++;
  return (char *)s;
}
char *index(const char *s, int c) { return strchr(s, c); }
char *strrchr(const char *s, int c) {
  char *last = NULL;
  for (;; s++) {
    if (*s == (char)c) last = (char *)s;
    if (!*s) return last;
  }
}
char *rindex(const char *s, int c) { return strrchr(s, c); }
size_t strspn(const char *s, const char *set) {
  size_t n = 0;
  for (; s[n]; n++) {
    const char *p = set;
    while (*p && *p != s[n]) p++;
    if (!*p) break;
  }
  return n;
}
size_t strcspn(const char *s, const char *set) {
  size_t n = 0;
  for (; s[n]; n++)
    for (const char *p = set; *p; p++)
      if (*p == s[n]) return n;
  return n;
}
char *strpbrk(const char *s, const char *set) {
  s += strcspn(s, set);
  return *s ? (char *)s : NULL;
}
char *strstr(const char *text, const char *part) {
  if (!*part) return (char *)text;
  for (; *text; text++) {
    size_t i = 0;
    while (part[i] && text[i] == part[i]) i++;
    if (!part[i]) return (char *)text;
  }
  return NULL;
}
char *strcasestr(const char *text, const char *part) {
  if (!*part) return (char *)text;
  for (; *text; text++) {
    size_t i = 0;
    while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) i++;
    if (!part[i]) return (char *)text;
  }
  return NULL;
}
char *strtok_r(char *s, const char *set, char **state) {
  if (!s) s = *state;
  s += strspn(s, set);
  if (!*s) {
    *state = s;
    return NULL;
  }
  char *end = s + strcspn(s, set);
  if (*end) *end++ = 0;
  *state = end;
  return s;
}
char *strtok(char *s, const char *set) {
  static char *state;
  return strtok_r(s, set, &state);
}
char *strsep(char **state, const char *set) {
  char *s = *state;
  if (!s) return NULL;
  char *end = s + strcspn(s, set);
  if (*end) {
    *end = 0;
    *state = end + 1;
  } else {
    *state = NULL;
  }
  return s;
}
char *strdup(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = malloc(n);
  if (copy) memcpy(copy, s, n);
  return copy;
}
char *strndup(const char *s, size_t limit) {
  size_t n = strnlen(s, limit);
  char *copy = malloc(n + 1);
  if (copy) {
    memcpy(copy, s, n);
    copy[n] = 0;
  }
  return copy;
}
int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < count; i++)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}
int bcmp(const void *a, const void *b, size_t count) { return memcmp(a, b, count); }
void bzero(void *to, size_t count) { memset(to, 0, count); }
void bcopy(const void *from, void *to, size_t count) { memmove(to, from, count); }
void *mempcpy(void *to, const void *from, size_t count) { return (char *)memcpy(to, from, count) + count; }
void *memchr(const void *s, int c, size_t count) {
  const unsigned char *p = s;
  for (size_t i = 0; i < count; i++)
    if (p[i] == (unsigned char)c) return (void *)(p + i);
  return NULL;
}
void *memrchr(const void *s, int c, size_t count) {
  const unsigned char *p = s;
  while (count--)
    if (p[count] == (unsigned char)c) return (void *)(p + count);
  return NULL;
}
void *memmem(const void *text, size_t n, const void *part, size_t m) {
  for (size_t i = 0; m <= n && i <= n - m; i++)
    if (!memcmp((const char *)text + i, part, m)) return (char *)text + i;
  return NULL;
}
size_t strxfrm(char *to, const char *from, size_t count) {
  size_t n = strlen(from);
  if (count) strncpy(to, from, n < count ? n + 1 : count);
  return n;
}

char *stpncpy(char *to, const char *from, size_t count) {
  size_t n = strnlen(from, count);
  strncpy(to, from, count);
  return to + n;
}
void *memccpy(void *to, const void *from, int c, size_t count) {
  char *out = to;
  const char *in = from;
  for (size_t i = 0; i < count; i++)
    if ((out[i] = in[i]) == (char)c) return out + i + 1;
  return NULL;
}
void *rawmemchr(const void *s, int c) {
  const unsigned char *p = s;
  while (*p != (unsigned char)c) p++;
  return (void *)p;
}
int ffs(int value) { return __builtin_ffs(value); }
int ffsl(long value) { return __builtin_ffsl(value); }
int ffsll(long long value) { return __builtin_ffsll(value); }
void explicit_bzero(void *to, size_t count) { memset(to, 0, count); }
void swab(const void *from, void *to, ssize_t count) {
  const char *in = from;
  char *out = to;
  for (ssize_t i = 0; i + 1 < count; i += 2) {
    char first = in[i];
    out[i] = in[i + 1];
    out[i + 1] = first;
  }
}
size_t strlcpy(char *to, const char *from, size_t room) {
  size_t n = strlen(from);
  if (room) {
    size_t kept = n < room ? n : room - 1;
    memcpy(to, from, kept);
    to[kept] = 0;
  }
  return n;
}
size_t strlcat(char *to, const char *from, size_t room) {
  size_t n = strnlen(to, room);
  return n == room ? n + strlen(from) : n + strlcpy(to + n, from, room - n);
}
/* What headers with checks call, in modules that were compiled with them. */
char *__strcpy_chk(char *to, const char *from, size_t room) { return (void)room, strcpy(to, from); }
char *__stpcpy_chk(char *to, const char *from, size_t room) { return (void)room, stpcpy(to, from); }
char *__strcat_chk(char *to, const char *from, size_t room) { return (void)room, strcat(to, from); }
char *__strncpy_chk(char *to, const char *from, size_t count, size_t room) { return (void)room, strncpy(to, from, count); }
char *__strncat_chk(char *to, const char *from, size_t count, size_t room) { return (void)room, strncat(to, from, count); }
