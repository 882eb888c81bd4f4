#include <stdarg.h>
#include <string.h>
static size_t total(const char *first, ...) {
  va_list list;
  size_t n = strlen(first);
  va_start(list, first);
  for (;;) {
    const char *s = va_arg(list, const char *);
    if (!s) break;
    n += strlen(s);
  }
  va_end(list);
  return n;
}
static size_t careless(const char *first, ...) {
  va_list list;
  size_t n = strlen(first);
  va_start(list, first);
  for (int i = 0; i < 3; i++) {
    const char *s = va_arg(list, const char *);
    n += strlen(s); //~ 
  }
  va_end(list);
  return n;
}
int main(void) { return (int)(total("a", "b", (char *)0) + careless("a", "b", "c", (char *)0)); }
