#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *end; printf("%ld %s|\n", strtol("  -123abc", &end, 10), end); printf("%ld %ld %ld\n", strtol("0x1f", NULL, 0), strtol("077", NULL, 0), strtol("zz", NULL, 36));
  errno = 0; long big = strtol("99999999999999999999", NULL, 10); printf("%ld %d\n", big, errno == ERANGE); printf("%lu\n", strtoul("-1", NULL, 10));
  printf("%.3f %g %g\n", strtod("3.25e2xyz", &end), atof("-0.5"), strtod("nothing", &end)); printf("%d %d\n", atoi("42"), atoi("-9x"));
}
