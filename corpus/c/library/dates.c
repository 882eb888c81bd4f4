// args: 1 14
// time.h: moments of all years that fit, and dates that have to be put right.
#define _GNU_SOURCE
#include "probe.h"
#include <time.h>

static void date(const struct tm *t) {
  printf("%d-%d-%d %d:%d:%d %d %d %d %ld %s", t->tm_year, t->tm_mon, t->tm_mday, t->tm_hour, t->tm_min, t->tm_sec, t->tm_wday,
         t->tm_yday, t->tm_isdst, t->tm_gmtoff, t->tm_zone);
}
int main(int count, char **words) {
  setenv("TZ", "UTC", 1);
  tzset();
  for (unsigned n = rounds(count, words); n; n--) {
    long when = (long)below(1u << 31) * (below(2) ? 1 : -1);
    if (below(3) == 0) when *= 1 + below(400);
    if (below(20) == 0) when *= 100000000;
    struct tm t, back;
    memset(&t, 0, sizeof t);
    errno = 0;
    struct tm *done = gmtime_r(&when, &t), other;
    printf("%ld: ", when);
    if (!done) {
      printf("%d\n", errno);
      continue;
    }
    date(&t), putchar('\n');
    back = t;
    printf("%ld %ld ", timegm(&back), mktime(&back)), date(localtime(&when)), putchar('\n');
    char out[64], *s = asctime_r(&t, memset(out, 0, sizeof out));
    printf("asctime "), show(s), putchar(' '), show(asctime(&t)), putchar(' '), show(ctime(&when));
    putchar(' '), show(ctime_r(&when, out)), printf(" %d %d\n", gmtime(&when)->tm_yday, localtime_r(&when, &other)->tm_mon);
    static const char *const forms[] = {"%a %A %b %B %c", "%C %d %D %e %F", "%g %G %h %H %I", "%j %k %l %m %M", "%n%p%P%r %R", "%s %S %t%T %u",
                                        "%U %V %w %W %x", "%X %y %Y %z %Z %%", "%Ey %Od", "%5Y|%_d|%-d|%^a|%#Z|%010s", "%E|%Q|%", "%^B %#B %#p %^p %-5d|%_5d|%012c|%20D|%-e|%0e", "%_H%-H%3e%03e%12A%012a%_Y%+5Y%#c%^c%-12F", "%012F|%-9a|%_9a|%09a|%-4d|%_4d|%04d|%4e|%-4e|%04e|%4Y|%_6Y|%-6Y|%3%|%03n|%^12F|%#12Z|%^Z|%#P|%^P|%#a|%#h"};
    char text[256] = "";
    for (int i = 0; i < 14; i++) {
      size_t got = strftime(text, sizeof text, forms[i], &t);
      printf("%s %zu ", forms[i], got), show(got ? text : ""), putchar('\n');
    }
    printf("%zu\n", strftime(text, below(12), "%Y-%m-%d", &t));
    struct tm odd = {.tm_year = (int)below(300) - 100, .tm_mon = (int)below(60) - 30, .tm_mday = (int)below(90) - 40, .tm_hour = (int)below(100) - 50,
                     .tm_min = (int)below(200) - 100, .tm_sec = (int)below(200) - 100, .tm_isdst = (int)below(2) - 1};
    printf("%ld ", mktime(&odd)), date(&odd), printf(" %a\n", difftime(when, 5));
  }
  return 0;
}
