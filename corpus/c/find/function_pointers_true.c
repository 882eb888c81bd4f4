// finds: null-dereference
#include <stddef.h>
int klee_range(int, int, const char *);
static int inc(int x) { return x + 1; }
static int twice(int x) { return x * 2; }
static int (*const table[4])(int) = {inc, twice, NULL, inc};
int main(void) {
  int at = klee_range(0, 4, "at");
  return table[at](at); //~ null-dereference
}
