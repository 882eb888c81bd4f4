/* What errors and signals are called. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
int __xpg_strerror_r(int, char *, size_t);
int main(void) {
  for (int i = -1; i < 136; i++) printf("%d %s\n", i, strerror(i));
  for (int i = -1; i < 67; i++) printf("%d %s\n", i, strsignal(i));
  char small[8], large[40];
  int codes[] = {0, 2, 41, 110, 777, -5};
  for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
    char *said = strerror_r(codes[i], small, sizeof small);
    printf("%s %d\n", said, said == small);
    int result = __xpg_strerror_r(codes[i], small, sizeof small);
    printf("%d %s\n", result, small);
    result = __xpg_strerror_r(codes[i], large, sizeof large);
    printf("%d %s\n", result, large);
  }
  return 0;
}
