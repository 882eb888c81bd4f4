// args: 1 150
// stdio.h: conversions with random flags, widths, precisions and values.
#define _GNU_SOURCE
#include "probe.h"
#include <stdarg.h>
#include <stdint.h>

static void to_all(const char *form, ...) {
  char out[600];
  va_list list;
  va_start(list, form);
  int n = vsnprintf(out, sizeof out, form, list);
  va_end(list);
  show(form), printf(" %d ", n), show(out);
  va_start(list, form);
  char few[8] = "#######";
  n = vsnprintf(few, below(8), form, list);
  va_end(list);
  printf(" %d ", n), show(few);
  va_start(list, form);
  char *made = NULL;
  n = vasprintf(&made, form, list);
  va_end(list);
  printf(" %d %d\n", n, strcmp(made, out));
  free(made);
}
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) {
    char form[32] = "<%";
    text_of(form + 2, below(2) ? "-0" : "-+ 0#", 3);
    int width = below(3) ? 0 : (int)below(14), precision = below(3) ? -1 : (int)below(12);
    if (width) sprintf(form + strlen(form), "%d", width);
    if (precision >= 0) sprintf(form + strlen(form), precision ? ".%d" : ".", precision);
    static const long values[] = {0, 1, -1, 7, 255, 256, 65535, 123456789, INT_MIN, INT_MAX, UINT_MAX, LONG_MIN, LONG_MAX};
    long value = below(3) ? values[below(13)] : (long)(int)(below(1u << 31) * 2);
    static const double numbers[] = {0, -0.0, 1, 0.5, 1.5, 2.5, 123456.789, 1e-7, 1e10, 9.9995, 0.1, 1e300, -3.25, __builtin_inf(), 4.9e-324};
    double number = below(3) ? numbers[below(15)] : (below(2000) - 1000.0) / (1 + below(40));
    static const char kinds[] = "diuxXocsfFeEgGaAp%";
    char kind = kinds[below(18)];
    unsigned size = below(7);
    static const char *const sizes[] = {"", "l", "ll", "h", "hh", "z", "j"};
    if (strchr("diuxXo", kind)) {
      sprintf(form + strlen(form), "%s%c>", sizes[size], kind);
      if (size == 0 || size == 3 || size == 4) to_all(form, (int)value);
      else to_all(form, value);
      continue;
    }
    if (strchr("fFeEgGaA", kind)) {
      int large = size == 1;
      sprintf(form + strlen(form), "%s%c>", large ? "L" : "", kind);
      if (large) to_all(form, (long double)number);
      else to_all(form, number);
      continue;
    }
    sprintf(form + strlen(form), "%c>", kind);
    if (kind == 'c') to_all(form, 'a' + (int)below(26));
    if (kind == 's') {
      char *made = NULL;
      int n = asprintf(&made, "%s-%d", form, (int)value);
      printf("%d ", n), show(made), putchar('\n');
      free(made);
    }
    if (kind == 's') to_all(form, "abcdefghij" + below(11));
    if (kind == 'p') to_all("%p %12p %-4p|", NULL, NULL, (void *)(uintptr_t)below(5000));
    if (kind == '%') {
      int after = -1;
      char out[64];
      int done = sprintf(out, "%%%*d%n|%-*.*s|", width, (int)value, &after, precision, width, "text");
      printf("%d %d ", done, after), show(out), putchar('\n');
      done = snprintf(out, sizeof out, "%2$s %1$d %3$.*4$f", (int)value, "two", 2.5, 2);
      printf("%d ", done), show(out), putchar('\n');
    }
  }
  return 0;
}
