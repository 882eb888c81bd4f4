/* wchar.h and wctype.h in the "C" locale: a wide character is a number, and what is written of it is ASCII or '?'. */
#include "model.h"

typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)
typedef int wchar_t;
typedef struct file FILE;
extern FILE *stdin, *stdout;
int fputc(int c, FILE *file);
int fgetc(FILE *file);
int ungetc(int c, FILE *file);
int vsnprintf(char *out, size_t limit, const char *text, va_list list);
long strtol(const char *s, char **rest, int base);
unsigned long strtoul(const char *s, char **rest, int base);
double strtod(const char *s, char **rest);

size_t wcslen(const wchar_t *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}
size_t wcsnlen(const wchar_t *s, size_t limit) {
  size_t n = 0;
  while (n < limit && s[n]) n++;
  return n;
}
wchar_t *wcscpy(wchar_t *to, const wchar_t *from) {
  size_t i = 0;
  while ((to[i] = from[i])) i++;
  return to;
}
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t count) {
  size_t i = 0;
  for (; i < count && from[i]; i++) to[i] = from[i];
  for (; i < count; i++) to[i] = 0;
  return to;
}
wchar_t *wcscat(wchar_t *to, const wchar_t *from) {
  wcscpy(to + wcslen(to), from);
  return to;
}
wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t count) {
  wchar_t *end = to + wcslen(to);
  size_t i = 0;
  for (; i < count && from[i]; i++) end[i] = from[i];
  end[i] = 0;
  return to;
}
int wcscmp(const wchar_t *a, const wchar_t *b) {
  while (*a && *a == *b) a++, b++;
  return *a < *b ? -1 : *a > *b;
}
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t count) {
  for (; count; count--, a++, b++) {
    if (*a != *b) return *a < *b ? -1 : 1;
    if (!*a) return 0;
  }
  return 0;
}
wchar_t *wcschr(const wchar_t *s, wchar_t c) {
  for (;; s++) {
    if (*s == c) return (wchar_t *)s;
    if (!*s) return NULL;
  }
}
wchar_t *wcsrchr(const wchar_t *s, wchar_t c) {
  wchar_t *last = NULL;
  for (;; s++) {
    if (*s == c) last = (wchar_t *)s;
    if (!*s) return last;
  }
}
wchar_t *wcsstr(const wchar_t *text, const wchar_t *part) {
  size_t n = wcslen(part);
  for (;; text++) {
    if (!wcsncmp(text, part, n)) return (wchar_t *)text;
    if (!*text) return NULL;
  }
}
size_t wcsspn(const wchar_t *s, const wchar_t *set) {
  size_t n = 0;
  while (s[n] && wcschr(set, s[n])) n++;
  return n;
}
size_t wcscspn(const wchar_t *s, const wchar_t *set) {
  size_t n = 0;
  while (s[n] && !wcschr(set, s[n])) n++;
  return n;
}
wchar_t *wcspbrk(const wchar_t *s, const wchar_t *set) {
  s += wcscspn(s, set);
  return *s ? (wchar_t *)s : NULL;
}
wchar_t *wcstok(wchar_t *s, const wchar_t *set, wchar_t **state) {
  if (!s) s = *state;
  s += wcsspn(s, set);
  if (!*s) {
    *state = s;
    return NULL;
  }
  wchar_t *end = s + wcscspn(s, set);
  if (*end) *end++ = 0;
  *state = end;
  return s;
}
wchar_t *wcsdup(const wchar_t *s) {
  size_t n = (wcslen(s) + 1) * sizeof *s;
  wchar_t *copy = malloc(n);
  if (copy) memcpy(copy, s, n);
  return copy;
}
wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t count) { return memcpy(to, from, count * sizeof *to); }
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t count) { return memmove(to, from, count * sizeof *to); }
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = c;
  return to;
}
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}
wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (s[i] == c) return (wchar_t *)(s + i);
  return NULL;
}

int isalnum(int c), ispunct(int c), isprint(int c), isgraph(int c), iscntrl(int c), isxdigit(int c), islower(int c), toupper(int c), isblank(int c);
#define ASCII(name, of) \
  int name(unsigned c) { return c < 128 && of((int)c); }
ASCII(iswalpha, isalpha)
ASCII(iswdigit, isdigit)
ASCII(iswalnum, isalnum)
ASCII(iswspace, isspace)
ASCII(iswblank, isblank)
ASCII(iswupper, isupper)
ASCII(iswlower, islower)
ASCII(iswpunct, ispunct)
ASCII(iswprint, isprint)
ASCII(iswgraph, isgraph)
ASCII(iswcntrl, iscntrl)
ASCII(iswxdigit, isxdigit)
unsigned towlower(unsigned c) { return c < 128 ? (unsigned)tolower((int)c) : c; }
unsigned towupper(unsigned c) { return c < 128 ? (unsigned)toupper((int)c) : c; }

/* Between wide and narrow: one character, one byte. */
size_t mbstowcs(wchar_t *to, const char *from, size_t count) {
  size_t n = 0;
  for (; !to || n < count; n++) {
    if ((unsigned char)from[n] > 127) return ~0UL;
    if (to) to[n] = from[n];
    if (!from[n]) break;
  }
  return n;
}
size_t wcstombs(char *to, const wchar_t *from, size_t count) {
  size_t n = 0;
  for (; !to || n < count; n++) {
    if ((unsigned)from[n] > 127) return ~0UL;
    if (to) to[n] = (char)from[n];
    if (!from[n]) break;
  }
  return n;
}
int mbtowc(wchar_t *to, const char *from, size_t count) {
  if (!from) return 0;
  if (!count || (unsigned char)*from > 127) return -1;
  if (to) *to = *from;
  return *from != 0;
}
int wctomb(char *to, wchar_t c) {
  if (!to) return 0;
  if ((unsigned)c > 127) return -1;
  *to = (char)c;
  return 1;
}
int mblen(const char *s, size_t count) { return mbtowc(NULL, s, count); }
unsigned btowc(int c) { return c >= 0 && c < 128 ? (unsigned)c : ~0u; }
int wctob(unsigned c) { return c < 128 ? (int)c : EOF; }

/* Numbers: the characters that can be part of one, as bytes. */
static void narrow(char *out, const wchar_t *s, size_t room) {
  size_t i = 0;
  for (; i + 1 < room && s[i] > 0 && s[i] < 128; i++) out[i] = (char)s[i];
  out[i] = 0;
}
#define NUMBER(type, name, call)                                                                                       \
  {                                                                                                                    \
    char text[128], *end;                                                                                              \
    narrow(text, s, sizeof text);                                                                                      \
    type value = call;                                                                                                 \
    if (rest) *rest = (wchar_t *)s + (end - text);                                                                     \
    return value;                                                                                                      \
  }
long wcstol(const wchar_t *s, wchar_t **rest, int base) NUMBER(long, wcstol, strtol(text, &end, base))
unsigned long wcstoul(const wchar_t *s, wchar_t **rest, int base) NUMBER(unsigned long, wcstoul, strtoul(text, &end, base))
double wcstod(const wchar_t *s, wchar_t **rest) NUMBER(double, wcstod, strtod(text, &end))

/* Streams. */
unsigned fputwc(wchar_t c, FILE *file) { return (unsigned)fputc(c >= 0 && c < 128 ? c : '?', file); }
unsigned putwc(wchar_t c, FILE *file) { return fputwc(c, file); }
unsigned putwchar(wchar_t c) { return fputwc(c, stdout); }
int fputws(const wchar_t *s, FILE *file) {
  for (; *s; s++) fputwc(*s, file);
  return 1;
}
unsigned fgetwc(FILE *file) { return (unsigned)fgetc(file); }
unsigned getwc(FILE *file) { return (unsigned)fgetc(file); }
unsigned getwchar(void) { return (unsigned)fgetc(stdin); }
unsigned ungetwc(unsigned c, FILE *file) { return (unsigned)ungetc((int)c, file); }
wchar_t *fgetws(wchar_t *out, int limit, FILE *file) {
  int n = 0;
  while (n + 1 < limit) {
    int c = fgetc(file);
    if (c == EOF) break;
    out[n++] = c;
    if (c == '\n') break;
  }
  if (n == 0) return NULL;
  out[n] = 0;
  return out;
}

/* Where formatted text goes. */
struct sink {
  FILE *file;
  wchar_t *out;
  size_t limit, count;
};
static void put(struct sink *sink, wchar_t c) {
  if (sink->file) fputwc(c, sink->file);
  else if (sink->count + 1 < sink->limit) sink->out[sink->count] = c;
  sink->count++;
}
/* Conversions of text are done here, all others by the narrow functions, one at a time. */
static void format(struct sink *sink, const wchar_t *text, va_list list) {
  for (; *text; text++) {
    if (*text != '%') {
      put(sink, *text);
      continue;
    }
    char spec[32] = "%", piece[512];
    int n = 1, width = 0, precision = -1, left = 0, wide = 0, size = 4;
    for (text++; *text && n < 20; text++) {
      int c = (int)*text;
      if (c == '-') left = 1;
      if (c == '*') {
        int given = va_arg(list, int);
        char digits[16];
        int k = 0;
        if (precision < 0 && given < 0) left = 1, given = -given, spec[n++] = '-';
        if (precision >= 0) precision = given;
        else width = given;
        if (given < 0) given = 0;
        do digits[k++] = (char)('0' + given % 10);
        while (given /= 10);
        while (k && n < 20) spec[n++] = digits[--k];
        continue;
      }
      if (c == '.') precision = 0;
      else if (isdigit(c) && precision >= 0) precision = precision * 10 + (c - '0');
      else if (isdigit(c) && (width || c != '0')) width = width * 10 + (c - '0');
      else if (c == 'l') wide = 1, size = 8;
      else if (c == 'z' || c == 'j' || c == 't' || c == 'q') size = 8;
      else if (c == 'L') size = 16;
      else if (c != '-' && c != '+' && c != ' ' && c != '#' && c != '0' && c != 'h') break;
      spec[n++] = (char)c;
    }
    if (!*text) return;
    char conversion = *text > 0 && *text < 128 ? (char)*text : '?';
    spec[n++] = conversion, spec[n] = 0;
    if (conversion == 's' || conversion == 'S' || conversion == 'c' || conversion == 'C') {
      wchar_t one[2] = {0, 0};
      const wchar_t *s = NULL;
      const char *bytes = NULL;
      int len = 0;
      if (conversion == 'c' || conversion == 'C') one[0] = va_arg(list, int), s = one, len = 1;
      else if (wide || conversion == 'S') {
        s = va_arg(list, const wchar_t *);
        if (!s) s = (const wchar_t *)L"(null)";
        while ((precision < 0 || len < precision) && s[len]) len++;
      } else {
        bytes = va_arg(list, const char *);
        if (!bytes) bytes = "(null)";
        while ((precision < 0 || len < precision) && bytes[len]) len++;
      }
      for (int i = len; !left && i < width; i++) put(sink, ' ');
      for (int i = 0; i < len; i++) put(sink, s ? s[i] : (wchar_t)(unsigned char)bytes[i]);
      for (int i = len; left && i < width; i++) put(sink, ' ');
      continue;
    }
    if (conversion == '%') {
      put(sink, '%');
      continue;
    }
    int snprintf(char *out, size_t limit, const char *text, ...);
    if (conversion == 'n') {
      *va_arg(list, int *) = (int)sink->count;
      continue;
    }
    if (strlen(spec) && (conversion == 'f' || conversion == 'e' || conversion == 'g' || conversion == 'F' || conversion == 'E' || conversion == 'G' || conversion == 'a' || conversion == 'A')) {
      if (size == 16) snprintf(piece, sizeof piece, spec, va_arg(list, long double));
      else snprintf(piece, sizeof piece, spec, va_arg(list, double));
    } else if (size >= 8 || conversion == 'p') {
      snprintf(piece, sizeof piece, spec, va_arg(list, long));
    } else {
      snprintf(piece, sizeof piece, spec, va_arg(list, int));
    }
    for (const char *p = piece; *p; p++) put(sink, *p);
  }
}
int fileno(FILE *file);
int vfwprintf(FILE *file, const wchar_t *text, va_list list) {
  /* A stream that is null or closed is a mistake before anything is written to it. */
  (void)fileno(file);
  struct sink sink = {file, NULL, 0, 0};
  format(&sink, text, list);
  return (int)sink.count;
}
int vwprintf(const wchar_t *text, va_list list) { return vfwprintf(stdout, text, list); }
/* Unlike its narrow relative, it fails when there is no room. */
int vswprintf(wchar_t *out, size_t limit, const wchar_t *text, va_list list) {
  struct sink sink = {NULL, out, limit, 0};
  format(&sink, text, list);
  if (limit) out[sink.count < limit ? sink.count : limit - 1] = 0;
  return sink.count < limit ? (int)sink.count : -1;
}
int wprintf(const wchar_t *text, ...) { WITH_LIST(vfwprintf(stdout, text, list)); }
int fwprintf(FILE *file, const wchar_t *text, ...) { WITH_LIST(vfwprintf(file, text, list)); }
int swprintf(wchar_t *out, size_t limit, const wchar_t *text, ...) { WITH_LIST(vswprintf(out, limit, text, list)); }
