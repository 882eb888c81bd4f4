/* stdlib.h: allocation on top of malloc and free, numbers, sorting, random numbers. */
#include "model.h"

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, NULL;
  return __parallax_zeroed(bytes);
}
void *realloc(void *old, size_t size) {
  if (!old) return malloc(size);
  size_t had = __parallax_size(old);
  if (!size) {
    free(old);
    return NULL;
  }
  void *p = malloc(size);
  if (!p) return NULL;
  memcpy(p, old, had < size ? had : size);
  free(old);
  return p;
}
void *reallocarray(void *old, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, NULL;
  return realloc(old, bytes);
}
/* Alignments that are no power of two are refused. */
static int aligns(size_t align) { return align && !(align & (align - 1)); }
void *aligned_alloc(size_t align, size_t size) {
  if (aligns(align)) return __parallax_malloc_aligned(align, size);
  errno = EINVAL;
  return NULL;
}
void *memalign(size_t align, size_t size) { return aligned_alloc(align, size); }
void *valloc(size_t size) { return __parallax_malloc_aligned(4096, size); }
int posix_memalign(void **out, size_t align, size_t size) {
  if (!aligns(align) || align % sizeof(void *)) return EINVAL;
  void *p = __parallax_malloc_aligned(align, size);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

int abs(int x) { return x < 0 ? -x : x; }
long labs(long x) { return x < 0 ? -x : x; }
long long llabs(long long x) { return x < 0 ? -x : x; }
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
div_t div(int a, int b) { return (div_t){a / b, a % b}; }
ldiv_t ldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }
lldiv_t lldiv(long long a, long long b) { return (lldiv_t){a / b, a % b}; }

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}
/* Digits of a number: its magnitude, whether it did not fit, and where it ends (NULL: no digits). */
static unsigned long digits(const char *s, int base, const char **end, int *negative, int *too_large) {
  const char *p = s;
  while (isspace((unsigned char)*p)) p++;
  *negative = 0;
  if (*p == '+' || *p == '-') *negative = *p++ == '-';
  if ((base == 0 || base == 16) && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && digit_of(p[2]) < 16) {
    p += 2;
    base = 16;
  } else if (base == 0) {
    base = *p == '0' ? 8 : 10;
  }
  unsigned long value = 0;
  *too_large = 0;
  *end = NULL;
  /* So many digits fit in any case. */
  int safe = base == 10 ? 19 : base == 16 ? 16 : base == 8 ? 21 : base == 2 ? 64 : 12, n = 0;
  while (digit_of(*p) < base) {
    unsigned long next;
    if (++n <= safe)
      value = value * (unsigned long)base + (unsigned long)digit_of(*p);
    else if (__builtin_mul_overflow(value, (unsigned long)base, &next) ||
        __builtin_add_overflow(next, (unsigned long)digit_of(*p), &next))
      *too_large = 1;
    else
      value = next;
    p++;
    *end = p;
  }
  return value;
}
static int is_base(int base) {
  if (base == 0 || (base >= 2 && base <= 36)) return 1;
  errno = EINVAL;
  return 0;
}
long strtol(const char *s, char **rest, int base) {
  if (!is_base(base)) return 0;
  const char *end;
  int negative, too_large;
  unsigned long value = digits(s, base, &end, &negative, &too_large);
  if (rest) *rest = (char *)(end ? end : s);
  unsigned long limit = negative ? 1UL << 63 : (1UL << 63) - 1;
  if (too_large || value > limit) {
    errno = ERANGE;
    return negative ? (long)(1UL << 63) : (long)((1UL << 63) - 1);
  }
  return negative ? (long)-value : (long)value;
}
unsigned long strtoul(const char *s, char **rest, int base) {
  if (!is_base(base)) return 0;
  const char *end;
  int negative, too_large;
  unsigned long value = digits(s, base, &end, &negative, &too_large);
  if (rest) *rest = (char *)(end ? end : s);
  if (too_large) {
    errno = ERANGE;
    return ~0UL;
  }
  return negative ? -value : value;
}
long long strtoll(const char *s, char **rest, int base) { return strtol(s, rest, base); }
unsigned long long strtoull(const char *s, char **rest, int base) { return strtoul(s, rest, base); }
long __isoc23_strtol(const char *s, char **rest, int base) { return strtol(s, rest, base); }
unsigned long __isoc23_strtoul(const char *s, char **rest, int base) { return strtoul(s, rest, base); }
long long __isoc23_strtoll(const char *s, char **rest, int base) { return strtol(s, rest, base); }
unsigned long long __isoc23_strtoull(const char *s, char **rest, int base) { return strtoul(s, rest, base); }
int atoi(const char *s) { return (int)strtol(s, NULL, 10); }
long atol(const char *s) { return strtol(s, NULL, 10); }
long long atoll(const char *s) { return strtol(s, NULL, 10); }

static int matches(const char *p, const char *word) {
  while (*word)
    if (tolower((unsigned char)*p++) != *word++) return 0;
  return 1;
}
/* The characters of a number: where they start and how many; none where it is not written in digits. */
struct numeral {
  const char *start;
  long len;
  int infinite, not_a_number;
};
static struct numeral numeral(const char *s, char **rest) {
  const char *p = s;
  while (isspace((unsigned char)*p)) p++;
  struct numeral found = {p, 0, 0, 0};
  if (*p == '+' || *p == '-') p++;
  if (matches(p, "inf") || matches(p, "nan")) {
    found.infinite = matches(p, "inf");
    found.not_a_number = !found.infinite;
    p += matches(p, "infinity") ? 8 : 3;
    if (found.not_a_number && *p == '(') {
      const char *q = p + 1;
      while (isalpha((unsigned char)*q) || isdigit((unsigned char)*q) || *q == '_') q++;
      if (*q == ')') p = q + 1;
    }
    if (rest) *rest = (char *)p;
    return found;
  }
  int any = 0;
  int hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') &&
            (digit_of(p[2]) < 16 || (p[2] == '.' && digit_of(p[3]) < 16));
  if (hex) p += 2;
  for (; hex ? digit_of(*p) < 16 : isdigit((unsigned char)*p); p++) any = 1;
  if (*p == '.') {
    const char *dot = p++;
    int more = 0;
    for (; hex ? digit_of(*p) < 16 : isdigit((unsigned char)*p); p++) more = 1;
    if (!more && !any) p = dot;
    any |= more;
  }
  if (!any) {
    if (rest) *rest = (char *)s;
    return found;
  }
  if (hex ? *p == 'p' || *p == 'P' : *p == 'e' || *p == 'E') {
    const char *q = p + 1;
    if (*q == '+' || *q == '-') q++;
    if (isdigit((unsigned char)*q)) {
      while (isdigit((unsigned char)*q)) q++;
      p = q;
    }
  }
  if (rest) *rest = (char *)p;
  found.len = p - found.start;
  return found;
}
#define STRING_TO(type, name, parse, none)                                            \
  type name(const char *s, char **rest) {                                             \
    struct numeral n = numeral(s, rest);                                              \
    type value = 0;                                                                   \
    if (n.infinite) value = *n.start == '-' ? -__builtin_inf() : __builtin_inf();     \
    else if (n.not_a_number) value = *n.start == '-' ? -none("") : none(""); \
    else if (n.len) {                                                                 \
      int range;                                                                      \
      value = parse(n.start, n.len, &range);                                          \
      if (range) errno = ERANGE;                                                      \
    }                                                                                 \
    return value;                                                                     \
  }
STRING_TO(double, strtod, __parallax_parse_double, __builtin_nan)
STRING_TO(float, strtof, __parallax_parse_float, __builtin_nanf)
STRING_TO(long double, strtold, __parallax_parse_long_double, __builtin_nanl)
double atof(const char *s) { return strtod(s, NULL); }

static void exchange(char *a, char *b, size_t size) {
  while (size >= 8) {
    /* Word by word, so that pointers stay pointers. */
    void *x, *y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    memcpy(a, &y, 8);
    memcpy(b, &x, 8);
    a += 8, b += 8, size -= 8;
  }
  for (; size; size--, a++, b++) {
    char t = *a;
    *a = *b;
    *b = t;
  }
}
/* Stable, as glibc's is: insertion for short runs, merging for long ones. */
static void merge_sort(char *base, size_t count, size_t size, int (*order)(const void *, const void *, void *),
                       void *context, char *room) {
  if (count <= 8) {
    for (size_t i = 1; i < count; i++)
      for (size_t j = i; j > 0 && order(base + (j - 1) * size, base + j * size, context) > 0; j--)
        exchange(base + (j - 1) * size, base + j * size, size);
    return;
  }
  size_t half = count / 2;
  merge_sort(base, half, size, order, context, room);
  merge_sort(base + half * size, count - half, size, order, context, room);
  size_t i = 0, j = half, n = 0;
  while (i < half && j < count) {
    int first = order(base + i * size, base + j * size, context) <= 0;
    memcpy(room + n++ * size, base + (first ? i++ : j++) * size, size);
  }
  memcpy(room + n * size, base + i * size, (half - i) * size);
  memcpy(base, room, (n + half - i) * size);
}
void qsort_r(void *base, size_t count, size_t size, int (*order)(const void *, const void *, void *), void *context) {
  char *room = count > 8 ? malloc(count * size) : NULL;
  merge_sort(base, count, size, order, context, room);
  free(room);
}
static int plain_order(const void *a, const void *b, void *order) {
  return ((int (*)(const void *, const void *))order)(a, b);
}
void qsort(void *base, size_t count, size_t size, int (*order)(const void *, const void *)) {
  qsort_r(base, count, size, plain_order, (void *)order);
}
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*order)(const void *, const void *)) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const char *at = (const char *)base + middle * size;
    int c = order(key, at);
    if (!c) return (void *)at;
    if (c < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* The additive feedback generator that glibc uses by default, so that programs with a seed behave alike. */
static int numbers[31];
static int front, back, seeded;
static void start(unsigned seed) {
  numbers[0] = seed ? (int)seed : 1;
  for (int i = 1; i < 31; i++) {
    long next = (16807L * numbers[i - 1]) % 2147483647;
    numbers[i] = (int)(next < 0 ? next + 2147483647 : next);
  }
  front = 3, back = 0, seeded = 1;
  for (int i = 0; i < 310; i++) {
    numbers[front] = (int)((unsigned)numbers[front] + (unsigned)numbers[back]);
    front = (front + 1) % 31, back = (back + 1) % 31;
  }
}
/* After a seed that is not constant the numbers are unknown, but one seed gives one sequence. */
enum { SEEDS = 8, DRAWN = 256 };
static struct sequence {
  unsigned seed;
  int drawn, numbers[DRAWN];
} sequences[SEEDS];
static struct sequence *current;
static int seeds, position;
static void choose(unsigned seed) {
  int i = 0;
  while (i < seeds && sequences[i].seed != seed) i++;
  if (i == SEEDS) __parallax_refuse("random numbers of more than 8 seeds that are not constant");
  if (i == seeds) sequences[seeds++].seed = seed;
  current = &sequences[i];
  if (current->drawn > DRAWN) __parallax_refuse("more than 256 random numbers of one seed that is not constant, twice");
  position = 0;
}
void srand(unsigned seed) {
  current = NULL;
  if (__parallax_unknown_seed(seed)) choose(seed);
  else start(seed);
}
void srandom(unsigned seed) {
  current = NULL;
  if (__parallax_unknown_seed(seed)) choose(seed);
  else start(seed);
}
static int draw(void) {
  if (position < current->drawn && position < DRAWN) return current->numbers[position++];
  int next = __parallax_random();
  if (position < DRAWN) current->numbers[position++] = next;
  current->drawn++;
  return next;
}
int rand(void) {
  if (current) return draw();
  if (!seeded) start(1);
  unsigned value = numbers[front] = (int)((unsigned)numbers[front] + (unsigned)numbers[back]);
  front = (front + 1) % 31, back = (back + 1) % 31;
  return (int)(value >> 1);
}
long random(void) { return rand(); }
int rand_r(unsigned *seed) {
  unsigned next = *seed;
  int result;
  next = next * 1103515245 + 12345;
  result = (int)(next / 65536) % 2048;
  next = next * 1103515245 + 12345;
  result <<= 10;
  result ^= (int)(next / 65536) % 1024;
  next = next * 1103515245 + 12345;
  result <<= 10;
  result ^= (int)(next / 65536) % 1024;
  *seed = next;
  return result;
}

/* The linear congruential generator of 48 bits. */
static unsigned long state48;
static unsigned long step48(void) {
  return state48 = (state48 * 0x5deece66dUL + 11) & 0xffffffffffffUL;
}
void srand48(long seed) { state48 = (unsigned long)(unsigned)seed << 16 | 0x330e; }
long lrand48(void) { return (long)(step48() >> 17); }
long mrand48(void) { return (int)(step48() >> 16); }
double drand48(void) { return (double)step48() / 281474976710656.0; }

long strtoimax(const char *s, char **rest, int base) { return strtol(s, rest, base); }
unsigned long strtoumax(const char *s, char **rest, int base) { return strtoul(s, rest, base); }
void cfree(void *p) { free(p); }
size_t malloc_usable_size(void *p) { return p ? __parallax_size(p) : 0; }
void *lfind(const void *key, const void *base, size_t *count, size_t size, int (*order)(const void *, const void *)) {
  for (size_t i = 0; i < *count; i++) {
    const char *at = (const char *)base + i * size;
    if (!order(key, at)) return (void *)at;
  }
  return NULL;
}
