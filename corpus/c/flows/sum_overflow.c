// finds: overflow
// with: part_show.c
// checks: overflow
// symbolic-stdin: 2
// The largest number plus one, past a check that is not made.
#include "show.h"
static int next(int n) { return n + 1; } //~ overflow
static int careful(int n) { return n < INT_MAX ? n + 1 : n; }
int main(void) {
  int n = getchar() == 'm' ? INT_MAX : 5;
  show_number(careful(n));
  show_number(next(n));
  return 0;
}
