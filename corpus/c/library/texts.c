// args: 1 35
// string.h and strings.h: texts of two letters and a dot, so that most calls find something.
#define _GNU_SOURCE
#include "probe.h"
#include <strings.h>
#include <unistd.h>

static void searches(void) {
  static char a[16], b[16];
  text_of(a, "aAb.", 9), text_of(b, "aAb.", 3);
  int c = "aAb.x"[below(6)];
  unsigned n = below(10);
  show(a), putchar(' '), show(b), printf(" %d %u:", c, n);
  printf(" %zu %zu", strlen(a), strnlen(a, n));
  printf(" chr %ld %ld %ld %ld", at(strchr(a, c), a), at(strrchr(a, c), a), at(index(a, c), a), at(rindex(a, c), a));
  printf(" nul %ld", at(strchrnul(a, c), a));
  printf(" spn %zu %zu %ld", strspn(a, b), strcspn(a, b), at(strpbrk(a, b), a));
  printf(" str %ld %ld", at(strstr(a, b), a), at(strcasestr(a, b), a));
  size_t la = strlen(a), lb = strlen(b);
  printf(" mem %ld %ld %ld %ld", at(memchr(a, c, la), a), at(memrchr(a, c, la), a), at(memmem(a, la, b, lb), a),
         at(rawmemchr(a, 0), a));
  unsigned m = below(4);
  printf(" cmp %d %d %d %d %d %d", sign(strcmp(a, b)), sign(strncmp(a, b, m)), sign(strcasecmp(a, b)),
         sign(strncasecmp(a, b, m)), sign(strcoll(a, b)), sign(memcmp(a, b, la < lb ? la : lb)));
  printf(" bcmp %d\n", bcmp(a, b, la < lb ? la : lb) != 0);
}
static void copies(void) {
  static char a[16], to[40];
  memset(to, '#', sizeof to - 1);
  to[39] = 0;
  text_of(a, "ab", 8);
  unsigned n = below(12);
  char *end = NULL;
  show(a), printf(" %u:", n);
  switch (below(15)) {
  case 0: end = strcpy(to, a); break;
  case 1: end = stpcpy(to, a); break;
  case 2: end = strncpy(to, a, n); break;
  case 3: end = stpncpy(to, a, n); break;
  case 4: to[5] = 0, end = strcat(to, a); break;
  case 5: to[5] = 0, end = strncat(to, a, n); break;
  case 6: end = memcpy(to, a, n), printf(" memcpy"); break;
  case 7: end = mempcpy(to, a, n); break;
  case 8: end = memccpy(to, a, 'b', n < strlen(a) ? n : strlen(a)); break;
  case 9: strcpy(to, "abcdefghij"), end = memmove(to + below(4), to + below(4), below(6)); break;
  case 10: swab(a, to, (ssize_t)(n < 9 ? n : 8)); break;
  case 11: printf(" xfrm %zu", strxfrm(to, a, n)); break;
  case 12: bzero(to + 2, n); break;
  case 13: bcopy(a, to, n); break;
  default: explicit_bzero(to + 2, n);
  }
  printf(" %ld", at(end, to));
  for (int i = 0; i < 20; i++) printf(" %d", to[i]);
  putchar('\n');
}
static void parts(void) {
  static char a[24], b[24], set[4];
  text_of(a, "ab,; ", 14), text_of(set, ",; ", 2);
  strcpy(b, a);
  show(a), putchar(' '), show(set);
  printf(" tok");
  for (char *p = strtok(a, set); p; p = strtok(NULL, set)) putchar(' '), show(p);
  printf(" sep");
  char *rest = strcpy(a, b);
  for (int i = 0; i < 8; i++) putchar(' '), show(strsep(&rest, set));
  char *kept;
  printf(" tok_r ");
  show(strtok_r(b, set, &kept)), putchar(' '), show(kept), putchar('\n');
  char *copy = strdup(b), *part = strndup(b, below(5));
  show(copy), putchar(' '), show(part);
  free(copy), free(part);
  printf(" ffs %d %d %d\n", ffs(1 << below(31)), ffsl(1L << below(63)), ffsll(below(2) ? 0 : LLONG_MIN));
}
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) searches(), copies(), parts();
  return 0;
}
