/* Formatted input, from a file or from a string. */
#include "model.h"

typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)

typedef struct file FILE;
extern FILE *stdin;
int fgetc(FILE *file);
int ungetc(int c, FILE *file);
double strtod(const char *s, char **rest);

struct source {
  FILE *file;
  const char *text;
  int count;
};
static int next(struct source *in) {
  int c;
  if (in->file) c = fgetc(in->file);
  else c = *in->text ? (unsigned char)*in->text++ : EOF;
  if (c != EOF) in->count++;
  return c;
}
static void back(struct source *in, int c) {
  if (c == EOF) return;
  in->count--;
  if (in->file) ungetc(c, in->file);
  else in->text--;
}
static int value_of(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}
static void assign(va_list list, int size, unsigned long value) {
  if (size == 8) *va_arg(list, long *) = (long)value;
  else if (size == 4) *va_arg(list, int *) = (int)value;
  else if (size == 2) *va_arg(list, short *) = (short)value;
  else *va_arg(list, char *) = (char)value;
}

static int scan(struct source *in, const char *text, va_list list) {
  int done = 0, c;
  for (; *text; text++) {
    if (isspace((unsigned char)*text)) {
      while ((c = next(in)) != EOF && isspace(c)) {}
      back(in, c);
      continue;
    }
    if (*text != '%') {
      c = next(in);
      if (c != (unsigned char)*text) {
        back(in, c);
        return c == EOF && !done ? EOF : done;
      }
      continue;
    }
    int skip = 0, width = 0, size = 4;
    if (*++text == '*') skip = 1, text++;
    while (isdigit((unsigned char)*text)) width = width * 10 + (*text++ - '0');
    for (;; text++) {
      if (*text == 'l' || *text == 'z' || *text == 'j' || *text == 't' || *text == 'L' || *text == 'q') size = 8;
      else if (*text == 'h') size = size == 2 ? 1 : 2;
      else break;
    }
    if (*text != 'c' && *text != '[' && *text != 'n' && *text != '%') {
      while ((c = next(in)) != EOF && isspace(c)) {}
      back(in, c);
      if (c == EOF) return done ? done : EOF;
    }
    switch (*text) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      int base = *text == 'x' || *text == 'X' ? 16 : *text == 'o' ? 8 : *text == 'i' ? 0 : 10;
      int negative = 0, any = 0, left = width ? width : 1 << 30;
      unsigned long value = 0;
      c = next(in);
      if ((c == '-' || c == '+') && left > 1) negative = c == '-', left--, c = next(in);
      if ((base == 0 || base == 16) && c == '0' && left > 0) {
        any = 1, left--;
        c = next(in);
        if ((c == 'x' || c == 'X') && left > 0) base = 16, left--, any = 0, c = next(in);
        else if (base == 0) base = 8;
      }
      if (base == 0) base = 10;
      while (left > 0 && c != EOF && value_of(c) < base) {
        value = value * (unsigned long)base + (unsigned long)value_of(c);
        any = 1, left--;
        c = next(in);
      }
      back(in, c);
      if (!any) return done;
      if (!skip) {
        assign(list, size, negative ? -value : value);
        done++;
      }
      break;
    }
    case 'f':
    case 'e':
    case 'g':
    case 'E':
    case 'G': {
      char number[128];
      int n = 0, limit = width && width < 127 ? width : 127;
      while (n < limit && (c = next(in)) != EOF) {
        int part = isdigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
        if ((c == '-' || c == '+') && n > 0 && number[n - 1] != 'e' && number[n - 1] != 'E') part = 0;
        if (!part) {
          back(in, c);
          break;
        }
        number[n++] = (char)c;
      }
      number[n] = 0;
      char *end;
      double value = strtod(number, &end);
      if (end == number) return done;
      if (!skip) {
        if (size == 8) *va_arg(list, double *) = value;
        else *va_arg(list, float *) = (float)value;
        done++;
      }
      break;
    }
    case 's': {
      char *out = skip ? NULL : va_arg(list, char *);
      int n = 0;
      while ((!width || n < width) && (c = next(in)) != EOF) {
        if (isspace(c)) {
          back(in, c);
          break;
        }
        if (out) out[n] = (char)c;
        n++;
      }
      if (!n) return done ? done : EOF;
      if (out) out[n] = 0, done++;
      break;
    }
    case 'c': {
      char *out = skip ? NULL : va_arg(list, char *);
      for (int n = 0; n < (width ? width : 1); n++) {
        c = next(in);
        if (c == EOF) return done ? done : EOF;
        if (out) out[n] = (char)c;
      }
      if (out) done++;
      break;
    }
    case '[': {
      char *out = skip ? NULL : va_arg(list, char *);
      int invert = text[1] == '^';
      const char *set = text + 1 + invert, *end = set + (*set == ']');
      while (*end && *end != ']') end++;
      int n = 0;
      while ((!width || n < width) && (c = next(in)) != EOF) {
        int in_set = 0;
        for (const char *p = set; p < end; p++) {
          if (p[1] == '-' && p + 2 < end) {
            if (c >= (unsigned char)p[0] && c <= (unsigned char)p[2]) in_set = 1;
            p += 2;
          } else if (c == (unsigned char)*p) {
            in_set = 1;
          }
        }
        if (in_set == invert) {
          back(in, c);
          break;
        }
        if (out) out[n] = (char)c;
        n++;
      }
      if (!n) return done ? done : (c == EOF ? EOF : 0);
      if (out) out[n] = 0, done++;
      text = end;
      break;
    }
    case 'n':
      if (!skip) *va_arg(list, int *) = in->count;
      break;
    case '%':
      c = next(in);
      if (c != '%') {
        back(in, c);
        return done;
      }
      break;
    default: return done;
    }
  }
  return done;
}

int vfscanf(FILE *file, const char *text, va_list list) {
  struct source in = {file, NULL, 0};
  return scan(&in, text, list);
}
int vsscanf(const char *from, const char *text, va_list list) {
  struct source in = {NULL, from, 0};
  return scan(&in, text, list);
}
int scanf(const char *text, ...) { WITH_LIST(vfscanf(stdin, text, list)); }
int fscanf(FILE *file, const char *text, ...) { WITH_LIST(vfscanf(file, text, list)); }
int sscanf(const char *from, const char *text, ...) { WITH_LIST(vsscanf(from, text, list)); }
int __isoc99_scanf(const char *text, ...) { WITH_LIST(vfscanf(stdin, text, list)); }
int __isoc99_fscanf(FILE *file, const char *text, ...) { WITH_LIST(vfscanf(file, text, list)); }
int __isoc99_sscanf(const char *from, const char *text, ...) { WITH_LIST(vsscanf(from, text, list)); }
int __isoc23_scanf(const char *text, ...) { WITH_LIST(vfscanf(stdin, text, list)); }
int __isoc23_fscanf(FILE *file, const char *text, ...) { WITH_LIST(vfscanf(file, text, list)); }
int __isoc23_sscanf(const char *from, const char *text, ...) { WITH_LIST(vsscanf(from, text, list)); }
