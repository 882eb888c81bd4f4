#include <stdio.h>
#include <stdarg.h>
static void say(FILE *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(to, format, list); //~ a
  va_end(list);
}
int main(int argc, char **argv) {
  FILE *f = fopen("/no/such/file", "w");
  if (argc == 2) say(f, "%d\n", argc);
  if (argc == 3) ungetc('a', f); //~ a b
  if (argc == 4) return (int)ftell(f); //~ a b c
  if (argc == 5) setvbuf(f, NULL, _IONBF, 0); //~ a b c d
  if (argc == 6) return getc(f); //~ a b c d e
  return 0;
}
