// args: 1 25
// Allocation that succeeds and that cannot, wide characters, the environment, names of errors and signals, addresses, options.
#define _GNU_SOURCE
#include "probe.h"
#include <arpa/inet.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <wchar.h>

static void allocations(void) {
  static const size_t sizes[] = {0, 1, 17, 4000, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 62};
  size_t size = sizes[below(7)], count = sizes[below(7)], align = (size_t)1 << below(8);
  errno = 0;
  unsigned char *p = NULL;
  switch (below(6)) {
  case 0: p = malloc(size), printf("malloc"); break;
  case 1:
    p = calloc(count, size), printf("calloc");
    for (size_t i = 0; p && i < size * count; i++) if (p[i]) printf(" %zu", i);
    break;
  case 2: {
    p = malloc(8);
    memcpy(p, "abcdefg", 8);
    unsigned char *q = realloc(p, size);
    printf("realloc %d", q != NULL || size == 0);
    if (q && size >= 8) printf(" %s", q);
    if (q || size == 0) p = q;
    break;
  }
  case 3: p = reallocarray(NULL, count, size), printf("reallocarray"); break;
  case 4: p = aligned_alloc(align, size), printf("aligned_alloc %d", p && (size_t)p % align); break;
  default: {
    void *made = NULL;
    printf("posix_memalign %d", posix_memalign(&made, below(3) ? align : 12, size));
    p = made;
  }
  }
  printf(" %zx %zx %d %d\n", count, size, p != NULL, errno);
  free(p);
}
static void wide(void) {
  wchar_t a[16] = {0}, b[16] = {0}, to[40];
  char narrow[16];
  text_of(narrow, "aAb 1", 9);
  swprintf(a, 16, L"%s", narrow);
  text_of(narrow, "aAb 1", 3);
  mbstowcs(b, narrow, 16);
  unsigned n = below(6);
  wmemset(to, L'#', 39);
  to[39] = 0;
  printf("%ls|%ls %u: %zu %zu %d %d", a, b, n, wcslen(a), wcsnlen(a, n), sign(wcscmp(a, b)), sign(wcsncmp(a, b, n)));
  wchar_t *p = wcschr(a, L'a');
  printf(" %ld", p ? (long)(p - a) : -1), p = wcsrchr(a, L'b');
  printf(" %ld", p ? (long)(p - a) : -1), p = wcsstr(a, b);
  printf(" %ld %zu %zu", p ? (long)(p - a) : -1, wcsspn(a, b), wcscspn(a, b)), p = wcspbrk(a, b);
  printf(" %ld", p ? (long)(p - a) : -1), p = wmemchr(a, L'1', wcslen(a));
  printf(" %ld %d", p ? (long)(p - a) : -1, sign(wmemcmp(a, b, wcslen(b) < wcslen(a) ? wcslen(b) : wcslen(a))));
  wcscpy(to, a), wcscat(to, b), wcsncat(to, a, n);
  printf(" %ls", to);
  wcsncpy(to, b, n), wmemcpy(to + 20, a, 3), wmemmove(to + 21, to + 20, 3);
  for (int i = 0; i < 25; i++) printf(" %d", to[i]);
  wchar_t *copy = wcsdup(a), *kept, *end;
  for (wchar_t *part = wcstok(copy, L" ", &kept); part; part = wcstok(NULL, L" ", &kept)) printf(" <%ls>", part);
  free(copy);
  printf(" %ld", wcstol(b, &end, 10)), printf(" %ld %lu", (long)(end - b), wcstoul(b, NULL, 16));
  printf(" %a %zu", wcstod(b, &end), wcstombs(narrow, a, n)), printf(" %ld\n", (long)(end - b));
}
static void names(void) {
  int code = (int)below(200) - 20;
  char text[40] = "";
  printf("%s|%s|%s|", strerror(code), strsignal(code), strerror_r(code, text, 10));
  int __xpg_strerror_r(int, char *, size_t);
  printf("%d ", __xpg_strerror_r(code, text, 1 + below(30))), show(text), putchar('\n');
  char form[40], back[64];
  struct in_addr v4;
  unsigned char v6[16];
  text_of(form, below(2) ? "0123.x" : "01af:.:", 12);
  if (below(3) == 0) snprintf(form, sizeof form, "%u.%u.%u.%u", below(300), below(256), below(256), below(256));
  if (below(4) == 0) snprintf(form, sizeof form, "%x::%x:%x", below(65536), below(65536), below(3));
  show(form);
  printf(" %d", inet_aton(form, &v4));
  printf(" %x", inet_addr(form)), printf(" %d", inet_pton(AF_INET, form, &v4));
  int is6 = inet_pton(AF_INET6, form, v6);
  printf(" %d", is6);
  if (is6 == 1) printf(" %s", inet_ntop(AF_INET6, v6, back, sizeof back));
  v4.s_addr = htonl(below(1u << 31));
  printf(" %s %x %x\n", inet_ntop(AF_INET, &v4, back, sizeof back), htons(513), ntohl(7) + ntohs(9));
}
static void environment(void) {
  static const char *const variables[] = {"A", "B", "AB", "", "A=B"};
  static char texts[4][8] = {"A=1", "B=2", "AB", "C="};
  const char *name = variables[below(5)];
  errno = 0;
  int result = 0;
  switch (below(4)) {
  case 0: result = setenv(name, below(2) ? "x" : "", (int)below(2)); break;
  case 1: result = unsetenv(name); break;
  case 2: result = putenv(texts[below(4)]); break;
  default: if (below(10) == 0) result = clearenv();
  }
  printf("%d %d", result, errno);
  for (int i = 0; i < 3; i++) putchar(' '), show(getenv(variables[i]));
  putchar(' '), show(secure_getenv("C")), putchar('\n');
}
static void options(void) {
  static const char *const given[] = {"-a", "-b", "x", "-bc", "--", "-", "--long", "--long=3", "--lo", "--other", "--flag", "-z", "y", "-cval", "--unknown=1"};
  char kept[8][16];
  char *words[9] = {"name"};
  int count = 1 + (int)below(7);
  for (int i = 1; i < count; i++) words[i] = strcpy(kept[i], given[below(15)]);
  words[count] = NULL;
  int flag = 0;
  const struct option all[] = {{"long", required_argument, NULL, 'l'}, {"other", optional_argument, NULL, 'o'}, {"flag", no_argument, &flag, 5}, {0, 0, 0, 0}};
  static const char *const forms[] = {"abc:", "+abc:", "-abc:", ":ab::c:"};
  const char *form = forms[below(4)];
  int how = (int)below(3), got, index = -1;
  optind = 0, opterr = 0;
  printf("%s %d:", form, how);
  while ((got = how == 0 ? getopt(count, words, form) : how == 1 ? getopt_long(count, words, form, all, &index) : getopt_long_only(count, words, form, all, &index)) != -1) {
    printf(" %d.%d.%d.", got, got == '?' || got == ':' ? optopt : 0, index), show(optarg);
    index = -1;
  }
  printf(" | %d %d", optind, flag);
  for (int i = 1; i < count; i++) printf(" %s", words[i]);
  putchar('\n');
}
static void locales(void) {
  static const char *const given[] = {"C", "POSIX", "", "xx_XX", NULL};
  const char *name = given[below(5)];
  show(name), putchar(' '), show(setlocale(below(7), name));
  struct lconv *here = localeconv();
  putchar(' '), show(here->decimal_point), show(here->thousands_sep), show(here->grouping), show(here->mon_decimal_point);
  printf(" %d %d", here->frac_digits, here->n_sign_posn);
  static const nl_item items[] = {CODESET, RADIXCHAR, THOUSEP, ABDAY_1, DAY_7, ABMON_12, MON_1, AM_STR, PM_STR, D_T_FMT, D_FMT, T_FMT, T_FMT_AMPM, YESEXPR, NOEXPR, CRNCYSTR};
  putchar(' '), show(nl_langinfo(items[below(16)]));
  errno = 0;
  locale_t made = name ? newlocale(LC_ALL_MASK, name, (locale_t)0) : (locale_t)0;
  printf(" %d", made != (locale_t)0);
  locale_t before = uselocale(made);
  printf(" %d %d", before == LC_GLOBAL_LOCALE, uselocale((locale_t)0) == (made ? made : LC_GLOBAL_LOCALE));
  uselocale(LC_GLOBAL_LOCALE);
  locale_t copy = made ? duplocale(made) : made;
  printf(" %d\n", (copy != (locale_t)0) == (made != (locale_t)0));
  if (copy) freelocale(copy);
}
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) allocations(), wide(), names(), environment(), options(), locales();
  return 0;
}
