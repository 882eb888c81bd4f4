// args: 1 50
// stdlib.h: numbers from text, quotients, random numbers.
#define _GNU_SOURCE
#include "probe.h"
#include <inttypes.h>

static void whole(void) {
  static char s[64];
  unsigned n = 0;
  for (unsigned blanks = below(3); blanks; blanks--) s[n++] = " \t\n"[below(3)];
  if (below(3) == 0) s[n++] = "+-"[below(2)];
  if (below(4) == 0) s[n++] = '0';
  if (below(4) == 0) s[n++] = "xX"[below(2)];
  text_of(s + n, below(2) ? "0123456789" : "019aAfFzZg.", below(3) ? 6 : 24);
  static const int bases[] = {0, 10, 16, 8, 2, 36, 7, 1, -3, 37};
  int base = bases[below(below(4) ? 4 : 10)];
  char *rest = s;
  show(s), printf(" %d:", base);
  errno = 0;
  long a = strtol(s, &rest, base);
  printf(" %ld %d %ld", a, errno, at(rest, s));
  errno = 0, rest = s;
  unsigned long b = strtoul(s, &rest, base);
  printf(" %lu %d %ld", b, errno, at(rest, s));
  errno = 0;
  long long c = strtoll(s, NULL, base);
  unsigned long long d = strtoull(s, NULL, base);
  printf(" %lld %llu %jd %ju %d", c, d, strtoimax(s, NULL, base), strtoumax(s, NULL, base), errno);
  printf(" %d %ld %lld\n", atoi(s), atol(s), atoll(s));
}
static void floating(void) {
  static char s[64];
  static const char *const words[] = {"inf", "INFinity", "nan", "nan(1)", "0x1.8p3", "1e", "1e400", "-1e-400", ".5", "5.", ".", "1e+7", "0x.p1", "infi"};
  if (below(3) == 0) snprintf(s, sizeof s, "%s%s", below(2) ? " -" : "", words[below(14)]);
  else text_of(s, "0123456789.e-+x", 12);
  char *rest = s;
  show(s);
  errno = 0;
  double a = strtod(s, &rest);
  printf(": %a %d %ld", a, errno, at(rest, s));
  errno = 0, rest = s;
  float b = strtof(s, &rest);
  /* The sign of what is not a number is lost where it changes its format. */
  printf(" %a %d %ld", b != b ? 0.0 : (double)b, errno, at(rest, s));
  long double c = strtold(s, &rest);
  printf(" %La %ld %a\n", c, at(rest, s), atof(s));
}
int main(int count, char **words) {
  unsigned n = rounds(count, words);
  for (unsigned i = 0; i < n; i++) {
    whole(), floating();
    int a = (int)below(2000) - 1000, b = (int)below(20) - 10;
    if (!b) b = 3;
    div_t d = div(a, b);
    ldiv_t l = ldiv(a * 1000003L, b);
    lldiv_t ll = lldiv(a * 7919LL, b);
    printf("%d %d %ld %ld %lld %lld %d %ld %lld\n", d.quot, d.rem, l.quot, l.rem, ll.quot, ll.rem, abs(a), labs(a * 5L), llabs(b));
  }
  unsigned seed = below(1000), kept = seed;
  srand(seed);
  printf("rand %d %d", rand(), rand());
  srandom(seed + 1);
  printf(" %ld %ld", random(), random());
  for (int i = 0; i < 5; i++) printf(" %d", rand_r(&kept));
  srand48(seed);
  for (int i = 0; i < 5; i++) printf(" %ld %ld %a", lrand48(), mrand48(), drand48());
  putchar('\n');
  return 0;
}
