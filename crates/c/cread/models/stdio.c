/* stdio.h, unbuffered: every call reaches the machine. */
#include "model.h"

typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)

typedef struct file {
  int number, back, at_end, failed;
  struct file *next;
} FILE;
static FILE standard[3] = {{0, EOF, 0, 0, NULL}, {1, EOF, 0, 0, NULL}, {2, EOF, 0, 0, NULL}};
/* Files that are open: forgetting to close one is not losing its memory. */
static FILE *opened;
FILE *stdin = &standard[0], *stdout = &standard[1], *stderr = &standard[2];

/* A stream that is null or closed is a mistake, also where nothing would have to be done with it. */
static void touch(FILE *file) { (void)*(volatile int *)&file->number; }

/* Where formatted text goes: to a file, or to memory with a limit. */
struct sink {
  FILE *file;
  char *out;
  size_t limit, count;
  char pending[64];
  int waiting;
};
static void drain(struct sink *sink) {
  if (sink->file && sink->waiting) {
    if (__write(sink->file->number, sink->pending, sink->waiting) < 0) sink->file->failed = 1;
    sink->waiting = 0;
  }
}
static void put(struct sink *sink, char c) {
  if (sink->file) {
    if (sink->waiting == sizeof sink->pending) drain(sink);
    sink->pending[sink->waiting++] = c;
  } else if (sink->count + 1 < sink->limit) {
    sink->out[sink->count] = c;
  }
  sink->count++;
}
static void pad(struct sink *sink, char c, int count) {
  for (; count > 0; count--) put(sink, c);
}

struct spec {
  int left, plus, space, alternate, zero, width, precision;
};
static void number(struct sink *sink, struct spec *spec, const char *sign, const char *text, int len, int zeros) {
  int signs = 0;
  while (sign[signs]) signs++;
  int fill = spec->width - signs - zeros - len;
  if (!spec->left && !spec->zero) pad(sink, ' ', fill);
  for (int i = 0; i < signs; i++) put(sink, sign[i]);
  if (!spec->left && spec->zero) pad(sink, '0', fill);
  pad(sink, '0', zeros);
  for (int i = 0; i < len; i++) put(sink, text[i]);
  if (spec->left) pad(sink, ' ', fill);
}
/* A number that is not constant goes to a standard stream as it is, and becomes digits when it is known. */
static int postponed(struct sink *sink, struct spec *spec, unsigned long value, int conversion) {
  if (!sink->file || spec->alternate || __parallax_known(value) || !__parallax_stream(sink->file->number)) return 0;
  drain(sink);
  int flags = spec->left | spec->plus << 1 | spec->space << 2 | spec->zero << 3;
  __parallax_write_number(sink->file->number, value, conversion, flags, spec->width, spec->precision);
  return 1;
}
/* How many characters that will be, without a branch. */
static int characters(struct spec *spec, unsigned long value, unsigned base, int sign) {
  int len = 1;
  unsigned long limit = base;
  for (;;) {
    len += value >= limit;
    if (limit > ~0UL / base) break;
    limit *= base;
  }
  len -= (value == 0) & (spec->precision == 0);
  int zeros = spec->precision - len, least = len + (zeros > 0 ? zeros : 0) + sign;
  return least < spec->width ? spec->width : least;
}
static void integer(struct sink *sink, struct spec *spec, unsigned long value, int base, int upper, const char *sign) {
  char text[24];
  int len = 0;
  const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  int nonzero = value != 0;
  if (value || spec->precision != 0) {
    char back[24];
    do back[len++] = digits[value % base];
    while (value /= base);
    for (int i = 0; i < len; i++) text[i] = back[len - 1 - i];
  }
  int zeros = spec->precision > len ? spec->precision - len : 0;
  if (spec->precision >= 0) spec->zero = 0;
  if (spec->alternate && base == 8 && zeros == 0 && (len == 0 || text[0] != '0')) zeros = 1;
  if (spec->alternate && base == 16 && nonzero) sign = upper ? "0X" : "0x";
  number(sink, spec, sign, text, len, zeros);
}
/* The longest is a long double without an exponent: 4933 digits, a point, and as many as were asked for. */
enum { LONGEST = 4934 + 2000 };
static void signed_text(struct sink *sink, struct spec *spec, const char *text, int len, int negative, int finite) {
  if (!finite) spec->zero = 0;
  char sign[4];
  int n = 0;
  if (negative || spec->plus || spec->space) sign[n++] = negative ? '-' : spec->plus ? '+' : ' ';
  /* Zeros go behind the 0x of hexadecimal digits. */
  if (len > 2 && (text[1] == 'x' || text[1] == 'X')) sign[n++] = *text++, sign[n++] = *text++, len -= 2;
  sign[n] = 0;
  number(sink, spec, sign, text, len, 0);
}
static void floating(struct sink *sink, struct spec *spec, double value, int conversion) {
  char text[LONGEST];
  unsigned long bits;
  memcpy(&bits, &value, sizeof bits);
  if (postponed(sink, spec, bits, conversion)) {
    sink->count++;
    return;
  }
  int len = __parallax_format_double(text, conversion, spec->precision, spec->alternate, value);
  signed_text(sink, spec, text, len, __builtin_signbit(value), __builtin_isfinite(value));
}
static void long_floating(struct sink *sink, struct spec *spec, long double value, int conversion) {
  char text[LONGEST];
  int len = __parallax_format_long_double(text, conversion, spec->precision, spec->alternate, value);
  signed_text(sink, spec, text, len, __builtin_signbitl(value), __builtin_isfinite(value));
}

/* The number in `%2$d`, or 0. */
static int position(const char **text) {
  const char *p = *text;
  int n = 0;
  while (isdigit((unsigned char)*p) && n < 1000) n = n * 10 + (*p++ - '0');
  if (*p != '$' || n == 0) return 0;
  *text = p + 1;
  return n;
}
/* The argument that `*3$` names. */
static int numbered(const char **text, va_list all) {
  int number_of = position(text);
  if (!number_of) __parallax_refuse("printf with numbered arguments and a width or precision that is not");
  va_list list;
  __builtin_va_copy(list, all);
  while (--number_of) (void)va_arg(list, long);
  return va_arg(list, int);
}
/* One character or a text of wide ones, as far as they are plain. */
static void wide(struct sink *sink, struct spec *spec, const int *s) {
  static const int nothing[] = {'(', 'n', 'u', 'l', 'l', ')', 0};
  if (!s) s = nothing;
  int len = 0;
  while ((spec->precision < 0 || len < spec->precision) && s[len]) len++;
  if (!spec->left) pad(sink, ' ', spec->width - len);
  for (int i = 0; i < len; i++) put(sink, (char)s[i]);
  if (spec->left) pad(sink, ' ', spec->width - len);
}
static void text_of(struct sink *sink, struct spec *spec, const char *s) {
  if (!s) s = "(null)";
  int len = 0;
  while ((spec->precision < 0 || len < spec->precision) && s[len]) len++;
  if (!spec->left) pad(sink, ' ', spec->width - len);
  for (int i = 0; i < len; i++) put(sink, s[i]);
  if (spec->left) pad(sink, ' ', spec->width - len);
}
char *strerror(int code);

static void format(struct sink *sink, const char *text, va_list given) {
  /* What %m stands for, whatever writing does to it. */
  int reported = errno;
  va_list all, list;
  __builtin_va_copy(all, given);
  __builtin_va_copy(list, given);
  for (; *text; text++) {
    if (*text != '%') {
      put(sink, *text);
      continue;
    }
    struct spec spec = {0, 0, 0, 0, 0, 0, -1};
    const char *first = text + 1;
    int number_of = position(&first);
    if (number_of) {
      /* Every argument is eight bytes here, whatever it is. */
      text = first - 1;
      __builtin_va_copy(list, all);
      for (int i = 1; i < number_of; i++) (void)va_arg(list, long);
    }
    for (text++;; text++) {
      if (*text == '-') spec.left = 1;
      else if (*text == '+') spec.plus = 1;
      else if (*text == ' ') spec.space = 1;
      else if (*text == '#') spec.alternate = 1;
      else if (*text == '0') spec.zero = 1;
      else if (*text != '\'') break;
    }
    if (*text == '*') {
      text++;
      spec.width = number_of ? numbered(&text, all) : va_arg(list, int);
      if (spec.width < 0) spec.left = 1, spec.width = -spec.width;
    } else {
      while (isdigit((unsigned char)*text)) spec.width = spec.width * 10 + (*text++ - '0');
    }
    if (*text == '.') {
      text++;
      spec.precision = 0;
      if (*text == '*') {
        text++;
        spec.precision = number_of ? numbered(&text, all) : va_arg(list, int);
      } else {
        while (isdigit((unsigned char)*text)) spec.precision = spec.precision * 10 + (*text++ - '0');
      }
    }
    int size = 4;
    for (;; text++) {
      if (*text == 'l' || *text == 'z' || *text == 'j' || *text == 't' || *text == 'q') size = 8;
      else if (*text == 'h') size = size == 2 ? 1 : 2;
      else if (*text == 'L') size = 16;
      else break;
    }
    switch (*text) {
    case 'd':
    case 'i': {
      long value = size >= 8 ? va_arg(list, long) : va_arg(list, int);
      if (size == 2) value = (short)value;
      if (size == 1) value = (signed char)value;
      if (postponed(sink, &spec, (unsigned long)value, 'd')) {
        unsigned long mask = (unsigned long)(value >> 63), size_of = ((unsigned long)value ^ mask) - mask;
        sink->count += (size_t)characters(&spec, size_of, 10, (value < 0) | spec.plus | spec.space);
        break;
      }
      const char *sign = value < 0 ? "-" : spec.plus ? "+" : spec.space ? " " : "";
      integer(sink, &spec, value < 0 ? -(unsigned long)value : (unsigned long)value, 10, 0, sign);
      break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      unsigned long value = size >= 8 ? va_arg(list, unsigned long) : va_arg(list, unsigned);
      if (size == 2) value = (unsigned short)value;
      if (size == 1) value = (unsigned char)value;
      if (postponed(sink, &spec, value, *text)) {
        sink->count += (size_t)characters(&spec, value, *text == 'u' ? 10 : *text == 'o' ? 8 : 16, 0);
        break;
      }
      integer(sink, &spec, value, *text == 'u' ? 10 : *text == 'o' ? 8 : 16, *text == 'X', "");
      break;
    }
    case 'p': {
      void *value = va_arg(list, void *);
      if (value) {
        spec.alternate = 1;
        integer(sink, &spec, (unsigned long)value, 16, 0, "");
      } else {
        number(sink, &spec, "", "(nil)", 5, 0);
      }
      break;
    }
    case 'C':
    case 'c': {
      char c = (char)va_arg(list, int);
      if (!spec.left) pad(sink, ' ', spec.width - 1);
      put(sink, c);
      if (spec.left) pad(sink, ' ', spec.width - 1);
      break;
    }
    case 'm': text_of(sink, &spec, strerror(reported)); break;
    case 'S': wide(sink, &spec, va_arg(list, const int *)); break;
    case 's': {
      if (size == 8) {
        wide(sink, &spec, va_arg(list, const int *));
        break;
      }
      text_of(sink, &spec, va_arg(list, const char *));
      break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      if (size == 16) long_floating(sink, &spec, va_arg(list, long double), *text);
      else floating(sink, &spec, va_arg(list, double), *text);
      break;
    case 'n': {
      void *where = va_arg(list, void *);
      if (size == 8) *(long *)where = (long)sink->count;
      else if (size == 2) *(short *)where = (short)sink->count;
      else if (size == 1) *(signed char *)where = (signed char)sink->count;
      else *(int *)where = (int)sink->count;
      break;
    }
    case '%': put(sink, '%'); break;
    case 0: return;
    default:
      put(sink, '%');
      put(sink, *text);
    }
  }
}

int vfprintf(FILE *file, const char *text, va_list list) {
  struct sink sink;
  touch(file);
  sink.file = file, sink.out = NULL, sink.limit = 0, sink.count = 0, sink.waiting = 0;
  int before = file->failed;
  file->failed = 0;
  format(&sink, text, list);
  drain(&sink);
  if (file->failed) return -1;
  file->failed = before;
  return (int)sink.count;
}
int vsnprintf(char *out, size_t limit, const char *text, va_list list) {
  struct sink sink;
  sink.file = NULL, sink.out = out, sink.limit = limit, sink.count = 0, sink.waiting = 0;
  format(&sink, text, list);
  if (limit) out[sink.count < limit ? sink.count : limit - 1] = 0;
  return (int)sink.count;
}
int vprintf(const char *text, va_list list) { return vfprintf(stdout, text, list); }
int vsprintf(char *out, const char *text, va_list list) { return vsnprintf(out, ~0UL >> 1, text, list); }
int printf(const char *text, ...) { WITH_LIST(vfprintf(stdout, text, list)); }
int fprintf(FILE *file, const char *text, ...) { WITH_LIST(vfprintf(file, text, list)); }
int sprintf(char *out, const char *text, ...) { WITH_LIST(vsprintf(out, text, list)); }
int snprintf(char *out, size_t limit, const char *text, ...) { WITH_LIST(vsnprintf(out, limit, text, list)); }
int vdprintf(int number, const char *text, va_list list) {
  FILE file = {number, EOF, 0, 0, NULL};
  return vfprintf(&file, text, list);
}
int dprintf(int number, const char *text, ...) { WITH_LIST(vdprintf(number, text, list)); }
int vasprintf(char **out, const char *text, va_list list) {
  va_list copy;
  __builtin_va_copy(copy, list);
  int len = vsnprintf(NULL, 0, text, copy);
  *out = malloc((size_t)len + 1);
  return *out ? vsnprintf(*out, (size_t)len + 1, text, list) : -1;
}
int asprintf(char **out, const char *text, ...) { WITH_LIST(vasprintf(out, text, list)); }

int fputc(int c, FILE *file) {
  char byte = (char)c;
  if (__write(file->number, &byte, 1) != 1) {
    file->failed = 1;
    return EOF;
  }
  return (unsigned char)c;
}
int putc(int c, FILE *file) { return fputc(c, file); }
int putchar(int c) { return fputc(c, stdout); }
int fputs(const char *s, FILE *file) {
  size_t n = strlen(s);
  if (__write(file->number, s, n) == (long)n) return 1;
  file->failed = 1;
  return EOF;
}
int puts(const char *s) {
  if (fputs(s, stdout) == EOF || fputc('\n', stdout) == EOF) return EOF;
  return (int)strlen(s) + 1;
}
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
  if (!size || !count) return 0;
  long done = __write(file->number, bytes, size * count);
  if (done < 0) file->failed = 1;
  return done < 0 ? 0 : (size_t)done / size;
}

int fgetc(FILE *file) {
  if (file->back != EOF) {
    int c = file->back;
    file->back = EOF;
    return c;
  }
  /* An end that was seen stays one until clearerr, whatever was written since. */
  if (file->at_end) return EOF;
  unsigned char c;
  long got = __read(file->number, &c, 1);
  if (got == 1) return c;
  if (got == 0) file->at_end = 1;
  else file->failed = 1;
  return EOF;
}
int getc(FILE *file) { return fgetc(file); }
int getchar(void) { return fgetc(stdin); }
int ungetc(int c, FILE *file) {
  if (c == EOF) return EOF;
  file->back = (unsigned char)c;
  file->at_end = 0;
  return c;
}
char *fgets(char *out, int limit, FILE *file) {
  int n = 0;
  while (n + 1 < limit) {
    int c = fgetc(file);
    if (c == EOF) break;
    out[n++] = (char)c;
    if (c == '\n') break;
  }
  if (n == 0) return NULL;
  out[n] = 0;
  return out;
}
char *gets(char *out) {
  int n = 0, c;
  while ((c = getchar()) != EOF && c != '\n') out[n++] = (char)c;
  if (n == 0 && c == EOF) return NULL;
  out[n] = 0;
  return out;
}
void *realloc(void *old, size_t size);
ssize_t getdelim(char **line, size_t *room, int stop, FILE *file) {
  size_t n = 0;
  for (;;) {
    if (n + 2 > *room || !*line) {
      size_t more = *room ? *room * 2 : 120;
      char *grown = realloc(*line, more);
      if (!grown) return -1;
      *line = grown;
      *room = more;
    }
    int c = fgetc(file);
    if (c == EOF) break;
    (*line)[n++] = (char)c;
    if (c == stop) break;
  }
  if (n == 0) return -1;
  (*line)[n] = 0;
  return (ssize_t)n;
}
ssize_t getline(char **line, size_t *room, FILE *file) { return getdelim(line, room, '\n', file); }
size_t fread(void *out, size_t size, size_t count, FILE *file) {
  char *bytes = out;
  size_t wanted = size * count, n = 0;
  if (!wanted) return 0;
  if (file->back != EOF) {
    bytes[n++] = (char)file->back;
    file->back = EOF;
  }
  while (n < wanted && !file->at_end) {
    long got = __read(file->number, bytes + n, wanted - n);
    if (got <= 0) {
      if (got == 0) file->at_end = 1;
      else file->failed = 1;
      break;
    }
    n += (size_t)got;
  }
  return n / size;
}

static FILE *stream(int number) {
  FILE *file = malloc(sizeof *file);
  if (!file) return NULL;
  file->number = number, file->back = EOF, file->at_end = 0, file->failed = 0;
  file->next = opened;
  return opened = file;
}
static void forget(FILE *file) {
  for (FILE **at = &opened; *at; at = &(*at)->next)
    if (*at == file) {
      *at = file->next;
      free(file);
      return;
    }
}
/* The flags of open for a mode of fopen; -1 for none that there is. */
static int flags_of(const char *mode) {
  int flags = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : mode[0] == 'a' ? O_CREAT | O_APPEND : -1;
  if (flags < 0) return -1;
  int both = 0;
  for (const char *m = mode + 1; *m && *m != ','; m++) {
    if (*m == '+') both = 1;
    if (*m == 'x') flags |= O_EXCL;
  }
  return flags | (both ? O_RDWR : mode[0] == 'r' ? 0 : O_WRONLY);
}
FILE *fopen(const char *path, const char *mode) {
  int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return NULL;
  }
  int number = __open(path, flags, 0666);
  return number < 0 ? NULL : stream(number);
}
int fclose(FILE *file) {
  int result = __close(file->number);
  if (file != &standard[0] && file != &standard[1] && file != &standard[2]) forget(file);
  return result < 0 ? EOF : 0;
}
int fflush(FILE *file) {
  if (file) touch(file);
  return 0;
}
int setvbuf(FILE *file, char *buffer, int mode, size_t size) {
  (void)buffer, (void)size;
  touch(file);
  return mode < 0 || mode > 2 ? EOF : 0;
}
void setbuf(FILE *file, char *buffer) { setvbuf(file, buffer, buffer ? 0 : 2, 8192); }
void setbuffer(FILE *file, char *buffer, size_t size) { setvbuf(file, buffer, buffer ? 0 : 2, size); }
void setlinebuf(FILE *file) { setvbuf(file, NULL, 1, 0); }
int feof(FILE *file) { return file->at_end; }
int ferror(FILE *file) { return file->failed; }
void clearerr(FILE *file) { file->at_end = file->failed = 0; }
int fileno(FILE *file) { return file->number; }
int fseek(FILE *file, long offset, int whence) {
  if (whence == 1 && file->back != EOF) offset--;
  file->back = EOF;
  file->at_end = 0;
  return __lseek(file->number, offset, whence) < 0 ? -1 : 0;
}
long ftell(FILE *file) {
  long at = __lseek(file->number, 0, 1);
  return at > 0 && file->back != EOF ? at - 1 : at;
}
void rewind(FILE *file) {
  fseek(file, 0, 0);
  file->failed = 0;
}
char *strerror(int code);
void perror(const char *what) {
  if (what && *what) fprintf(stderr, "%s: ", what);
  fprintf(stderr, "%s\n", strerror(errno));
}

/* The same without locks, and with the checks of headers that have them. */
int fputc_unlocked(int c, FILE *file) { return fputc(c, file); }
int putc_unlocked(int c, FILE *file) { return fputc(c, file); }
int putchar_unlocked(int c) { return fputc(c, stdout); }
int fputs_unlocked(const char *s, FILE *file) { return fputs(s, file); }
int fgetc_unlocked(FILE *file) { return fgetc(file); }
int getc_unlocked(FILE *file) { return fgetc(file); }
int getchar_unlocked(void) { return fgetc(stdin); }
int _IO_getc(FILE *file) { return fgetc(file); }
int _IO_putc(int c, FILE *file) { return fputc(c, file); }
ssize_t __getdelim(char **line, size_t *room, int stop, FILE *file) { return getdelim(line, room, stop, file); }
int __printf_chk(int flag, const char *text, ...) {
  (void)flag;
  WITH_LIST(vfprintf(stdout, text, list));
}
int __fprintf_chk(FILE *file, int flag, const char *text, ...) {
  (void)flag;
  WITH_LIST(vfprintf(file, text, list));
}
int __sprintf_chk(char *out, int flag, size_t room, const char *text, ...) {
  (void)flag, (void)room;
  WITH_LIST(vsprintf(out, text, list));
}
int __snprintf_chk(char *out, size_t limit, int flag, size_t room, const char *text, ...) {
  (void)flag, (void)room;
  WITH_LIST(vsnprintf(out, limit, text, list));
}
int __vfprintf_chk(FILE *file, int flag, const char *text, va_list list) { return (void)flag, vfprintf(file, text, list); }
int __vsnprintf_chk(char *out, size_t limit, int flag, size_t room, const char *text, va_list list) {
  return (void)flag, (void)room, vsnprintf(out, limit, text, list);
}
char *__fgets_chk(char *out, size_t room, int limit, FILE *file) { return (void)room, fgets(out, limit, file); }
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }
FILE *fdopen(int number, const char *mode) {
  int flags = flags_of(mode);
  long has = __parallax_flags(number);
  if (has < 0 || flags < 0) {
    errno = has < 0 ? EBADF : EINVAL;
    return NULL;
  }
  return stream(number);
}
FILE *freopen(const char *path, const char *mode, FILE *file) {
  FILE *other = fopen(path, mode);
  if (!other) {
    __close(file->number);
    return NULL;
  }
  /* It keeps its number. */
  __parallax_duplicate_to(other->number, file->number);
  __close(other->number);
  file->back = EOF, file->at_end = 0, file->failed = 0;
  forget(other);
  return file;
}
FILE *tmpfile(void) {
  static int count;
  char name[32];
  snprintf(name, sizeof name, ".parallax-tmpfile-%d", count++);
  FILE *file = fopen(name, "w+");
  if (file) __parallax_remove(name);
  return file;
}
FILE *fmemopen_for_writing(void *bytes, size_t count, const char *mode);
FILE *fmemopen(void *bytes, size_t count, const char *mode) {
  /* What is written would have to arrive in the bytes: nothing here does that. */
  if (mode[0] != 'r' || mode[1] == '+') return fmemopen_for_writing(bytes, count, mode);
  FILE *file = tmpfile();
  if (!file) return NULL;
  fwrite(bytes, 1, count, file);
  rewind(file);
  return file;
}
int fgetpos(FILE *file, long *at) {
  *at = ftell(file);
  return *at < 0 ? -1 : 0;
}
int fsetpos(FILE *file, const long *at) { return fseek(file, *at, 0); }
int fseeko(FILE *file, long offset, int whence) { return fseek(file, offset, whence); }
long ftello(FILE *file) { return ftell(file); }
int puts_unlocked(const char *s) { return puts(s); }
