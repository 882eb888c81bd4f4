// The less common functions of string.h, and numbers of every base.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
int main(void) {
  char a[32] = "abcdef", b[32];
  printf("%d %s\n", (int)(stpncpy(b, "xy", 5) - b), b);
  printf("%s %d\n", (char *)memccpy(b, "stop.here", '.', 9) ? "found" : "not", b[4]);
  printf("%d %d %d\n", ffs(0), ffs(40), ffsl(1L << 40));
  swab("badcfe", b, 6);
  printf("%.6s\n", b);
  printf("%s %s\n", (char *)memmem("needle in hay", 13, "in", 2), strcasestr("LOUD voice", "VOI"));
  printf("%s|%s|%s\n", strchrnul(a, 'd'), strchrnul(a, 'z'), (char *)memrchr(a, 'b', 6));
  printf("%d %d\n", strcasecmp("Hello", "hELLO"), strncasecmp("abcX", "ABCy", 3));
  char path[] = "usr::local:bin", *at = path, *part;
  while ((part = strsep(&at, ":"))) printf("[%s]", part);
  char *rest;
  errno = 0;
  printf("\n%ld %s %d\n", strtol("0x1fz", &rest, 0), rest, errno);
  printf("%ld %lu %d\n", strtol("99999999999999999999", NULL, 10), strtoul("-1", NULL, 10), errno == ERANGE);
  printf("%" PRIdMAX " %lld %s\n", strtoimax("-777", NULL, 8), strtoll("zz", &rest, 36), rest);
  printf("%g %g %g %s\n", strtod("1e3x", &rest), strtod("0x1.8p1", NULL), strtod("-inf", NULL), rest);
  char *made = NULL;
  printf("%d ", asprintf(&made, "%-5s|%+d|%#x|%o|%e", "ab", 5, 255, 8, 12345.678));
  puts(made);
  free(made);
  printf("%5.3d|%-6d|%06d|% d|%hhd|%lu|%zu|%c|%%|%s\n", 7, 8, -9, 10, 300, 1UL << 40, sizeof a, 'q',
         strerror(ENOENT));
  int x, n;
  char word[8], set[8];
  printf("%d ", sscanf("  12abc-xyz:77", "%d%3[a-c]-%7[^:]:%n", &x, word, set, &n));
  printf("%d %s %s %d\n", x, word, set, n);
  unsigned h;
  float f;
  printf("%d ", sscanf("ff 2.5e1 z", "%x %f %*c", &h, &f));
  printf("%u %g\n", h, f);
  srand48(7);
  printf("%ld %ld %.6f\n", lrand48(), mrand48(), drand48());
  return 0;
}
