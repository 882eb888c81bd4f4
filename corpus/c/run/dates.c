// Dates there and back, and how they are written.
#include <stdio.h>
#include <time.h>
int main(void) {
  time_t moments[] = {0, 1, 86399, 951782400, 1709164800, 4102444799, -1, -86400 * 366L};
  char text[128];
  for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
    struct tm *t = gmtime(&moments[i]);
    printf("%d-%d-%d %d:%d:%d w%d y%d\n", t->tm_year, t->tm_mon, t->tm_mday, t->tm_hour, t->tm_min, t->tm_sec,
           t->tm_wday, t->tm_yday);
    strftime(text, sizeof text,
             "%Y-%m-%d %H:%M:%S %a %A %b %B %j %U %V %W %G %g %y %C %e %I %p %D %F %T %R %u %w %%", t);
    puts(text);
    struct tm copy = *t;
    printf("%ld %s", (long)timegm(&copy), asctime(t));
  }
  struct tm odd = {.tm_year = 123, .tm_mon = 13, .tm_mday = 32, .tm_hour = 25, .tm_min = -5};
  printf("%ld", (long)timegm(&odd));
  printf(" %d-%d-%d %d\n", odd.tm_year, odd.tm_mon, odd.tm_mday, odd.tm_hour);
  printf("%zu %.0f\n", strftime(text, 4, "%Y-%m", &odd), difftime(10, 4));
  return 0;
}
