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
float strtof(const char *s, char **rest);
long double strtold(const char *s, char **rest);

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
static int skip_blanks(struct source *in) {
  int c;
  while ((c = next(in)) != EOF && isspace(c)) {}
  back(in, c);
  return c;
}

/* What a conversion asks for: a width of 0 is none. */
struct wanted {
  int skip, allocate, width, size;
};
/* The next character of a field that may have so many more. */
static int more(struct source *in, int *left) {
  if (*left == 0) return EOF;
  int c = next(in);
  if (c != EOF) --*left;
  return c;
}
static void put_back(struct source *in, int c, int *left) {
  if (c == EOF) return;
  back(in, c);
  ++*left;
}
static void assign(va_list list, int size, unsigned long value) {
  if (size >= 8) *va_arg(list, long *) = (long)value;
  else if (size == 4) *va_arg(list, int *) = (int)value;
  else if (size == 2) *va_arg(list, short *) = (short)value;
  else *va_arg(list, char *) = (char)value;
}

/* A whole number in a base, 0 for whichever its prefix says; false where there is none. Numbers that are too large are the
   largest, as for strtol and strtoul. */
static int whole(struct source *in, const struct wanted *wanted, int base, int is_signed, unsigned long *out) {
  int negative = 0, digits = 0, large = 0, left = wanted->width ? wanted->width : 1 << 30;
  unsigned long value = 0;
  int c = more(in, &left);
  if (c == '-' || c == '+') negative = c == '-', c = more(in, &left);
  if (c == '0') {
    digits = 1;
    c = more(in, &left);
    if ((base == 0 || base == 16) && (c == 'x' || c == 'X')) base = 16, c = more(in, &left);
    else if (base == 0) base = 8;
  }
  if (base == 0) base = 10;
  /* So many digits fit in any case. */
  int safe = base == 16 ? 15 : base == 8 ? 20 : 18;
  for (; c != EOF && value_of(c) < base; c = more(in, &left)) {
    unsigned long digit = (unsigned long)value_of(c);
    if (++digits <= safe) value = value * (unsigned long)base + digit;
    else if (__builtin_mul_overflow(value, (unsigned long)base, &value) || __builtin_add_overflow(value, digit, &value)) large = 1;
  }
  put_back(in, c, &left);
  if (!digits) return 0;
  unsigned long limit = is_signed ? (1UL << 63) - 1 + (unsigned long)negative : ~0UL;
  if (digits > safe && (large || value > limit)) *out = is_signed && negative ? 1UL << 63 : limit;
  else *out = negative ? -value : value;
  return 1;
}

/* The characters that a floating-point number may be made of, as glibc takes them: their number, or 0. */
static int floating(struct source *in, const struct wanted *wanted, char *number, int room) {
  int n = 0, left = wanted->width ? wanted->width : 1 << 30;
  int digit = 0, dot = 0, exponent = 0, hexadecimal = 0, sign = 0;
  int c = more(in, &left);
  if (c == '-' || c == '+') number[n++] = (char)c, sign = 1, c = more(in, &left);
  if (c == EOF) return 0;
  const char *word = tolower(c) == 'n' ? "nan" : tolower(c) == 'i' ? "inf" : NULL;
  if (word) {
    for (; *word; word++, c = more(in, &left)) {
      if (c == EOF || tolower(c) != *word) return 0;
      number[n++] = (char)c;
    }
    if (number[sign] == 'n' || number[sign] == 'N' || c == EOF || tolower(c) != 'i') {
      put_back(in, c, &left);
      return n;
    }
    for (word = "inity"; *word; word++) {
      if (c == EOF || tolower(c) != *word) return 0;
      number[n++] = (char)c;
      c = word[1] ? more(in, &left) : EOF;
    }
    return n;
  }
  if (c == '0') {
    number[n++] = '0', digit = 1;
    c = more(in, &left);
    if (c == 'x' || c == 'X') number[n++] = 'x', hexadecimal = 1, digit = 0, c = more(in, &left);
  }
  for (; c != EOF; c = more(in, &left)) {
    if (n >= room) __parallax_refuse("a floating-point number of more than 400 characters read by scanf");
    if (isdigit(c) || (hexadecimal && !exponent && value_of(c) < 16)) digit = 1;
    else if (exponent && (c == '-' || c == '+') && tolower(number[n - 1]) == (hexadecimal ? 'p' : 'e')) {}
    else if (digit && !exponent && tolower(c) == (hexadecimal ? 'p' : 'e')) exponent = dot = 1;
    else if (c == '.' && !dot) dot = 1;
    else break;
    number[n++] = (char)c;
  }
  put_back(in, c, &left);
  return n == sign || (hexadecimal && n == 2 + sign) ? 0 : n;
}

/* Characters that go somewhere: to the program's memory, plain or wide, or to memory made for them. */
struct text {
  char *plain;
  int *wide, count, room;
  char **made;
};
static struct text text_for(const struct wanted *wanted, void *to) {
  struct text text = {NULL, NULL, 0, 0, NULL};
  if (wanted->skip) return text;
  if (wanted->allocate) {
    if (wanted->size >= 8) __parallax_refuse("scanf that makes memory for wide characters");
    text.made = to, text.room = 32;
    text.plain = *text.made = malloc(32);
  } else if (wanted->size >= 8) {
    text.wide = to;
  } else {
    text.plain = to;
  }
  return text;
}
static void add(struct text *text, int c) {
  if (text->made && text->count == text->room) {
    char *larger = malloc((size_t)text->room * 2);
    memcpy(larger, text->plain, (size_t)text->room);
    free(text->plain);
    text->room *= 2;
    text->plain = *text->made = larger;
  }
  if (text->plain) text->plain[text->count] = (char)c;
  if (text->wide) text->wide[text->count] = c;
  text->count++;
}
static void *place(const struct wanted *wanted, va_list list) { return wanted->skip ? NULL : va_arg(list, void *); }

/* Whether a character is in the set between brackets. */
static int is_in(int c, const char *set, const char *end) {
  for (const char *p = set; p < end; p++) {
    if (p[1] == '-' && p + 2 < end) {
      if (c >= (unsigned char)p[0] && c <= (unsigned char)p[2]) return 1;
      p += 2;
    } else if (c == (unsigned char)*p) {
      return 1;
    }
  }
  return 0;
}

static int scan(struct source *in, const char *text, va_list list) {
  int done = 0, c;
  for (; *text; text++) {
    if (isspace((unsigned char)*text)) {
      skip_blanks(in);
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
    struct wanted wanted = {0, 0, 0, 4};
    text++;
    for (;; text++) {
      if (*text == '*') wanted.skip = 1;
      else if (*text == '\'') {}
      else break;
    }
    while (isdigit((unsigned char)*text)) wanted.width = wanted.width * 10 + (*text++ - '0');
    if (*text == '$') __parallax_refuse("scanf with numbered arguments");
    for (;; text++) {
      if (*text == 'l' || *text == 'z' || *text == 'j' || *text == 't' || *text == 'q') wanted.size = 8;
      else if (*text == 'L') wanted.size = 16;
      else if (*text == 'h') wanted.size = wanted.size == 2 ? 1 : 2;
      else if (*text == 'm') wanted.allocate = 1;
      else break;
    }
    if (*text != 'c' && *text != 'C' && *text != '[' && *text != 'n' && skip_blanks(in) == EOF) return done ? done : EOF;
    if (*text == 'S' || *text == 'C') wanted.size = 8;
    switch (*text) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'p': {
      unsigned long value = 0;
      int base = *text == 'x' || *text == 'X' || *text == 'p' ? 16 : *text == 'o' ? 8 : *text == 'i' ? 0 : 10;
      if (!whole(in, &wanted, base, *text == 'd' || *text == 'i', &value)) {
        if (*text != 'p' || wanted.width) return done;
        for (const char *nil = "(nil)"; *nil; nil++) {
          c = next(in);
          if (c != *nil) {
            back(in, c);
            return done;
          }
        }
        value = 0;
      }
      if (!wanted.skip) {
        assign(list, *text == 'p' ? 8 : wanted.size, value);
        done++;
      }
      break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      char number[404];
      int n = floating(in, &wanted, number, 400);
      if (!n) return done;
      number[n] = 0;
      char *end;
      if (wanted.skip) {
        strtod(number, &end);
      } else if (wanted.size == 16) {
        long double value = strtold(number, &end);
        if (end != number) *va_arg(list, long double *) = value;
      } else if (wanted.size == 8) {
        double value = strtod(number, &end);
        if (end != number) *va_arg(list, double *) = value;
      } else {
        float value = strtof(number, &end);
        if (end != number) *va_arg(list, float *) = value;
      }
      if (end == number) return done;
      done += !wanted.skip;
      break;
    }
    case 's':
    case 'S': {
      struct text out = text_for(&wanted, place(&wanted, list));
      while ((!wanted.width || out.count < wanted.width) && (c = next(in)) != EOF) {
        if (isspace(c)) {
          back(in, c);
          break;
        }
        add(&out, c);
      }
      add(&out, 0);
      done += !wanted.skip;
      break;
    }
    case 'c':
    case 'C': {
      if ((c = next(in)) == EOF) return done ? done : EOF;
      struct text out = text_for(&wanted, place(&wanted, list));
      add(&out, c);
      while (out.count < wanted.width && (c = next(in)) != EOF) add(&out, c);
      done += !wanted.skip;
      break;
    }
    case '[': {
      int invert = text[1] == '^';
      const char *set = text + 1 + invert, *end = set + (*set == ']');
      while (*end && *end != ']') end++;
      c = next(in);
      if (c == EOF) return done ? done : EOF;
      back(in, c);
      if (is_in(c, set, end) == invert) return done;
      struct text out = text_for(&wanted, place(&wanted, list));
      while ((!wanted.width || out.count < wanted.width) && (c = next(in)) != EOF) {
        if (is_in(c, set, end) == invert) {
          back(in, c);
          break;
        }
        add(&out, c);
      }
      add(&out, 0);
      done += !wanted.skip;
      text = end;
      break;
    }
    case 'n':
      if (!wanted.skip) assign(list, wanted.size, (unsigned long)in->count);
      break;
    case '%':
      c = next(in);
      if (c != '%') {
        back(in, c);
        return done;
      }
      break;
    default: __parallax_refuse("a conversion of scanf that is not modelled");
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
