#include <stdarg.h>
#include <stddef.h>
static int sum(int n, ...) {
  va_list list;
  int total = 0;
  va_start(list, n);
  for (int i = 0; i < n; i++) {
    int *p = va_arg(list, int *);
    total += *p; //~ 
  }
  va_end(list);
  return total;
}
int main(int argc, char **argv) {
  int a = 1, b = 2;
  sum(2, &a, &b);
  return sum(3, &a, argc > 1 ? &b : NULL, &b);
}
