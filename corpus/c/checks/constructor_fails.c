#include <stdlib.h>
int klee_range(int, int, const char *);
static int *table;
__attribute__((constructor)) static void before(void) { table = calloc(4, sizeof *table); }
__attribute__((destructor)) static void after(void) { free(table); }
int main(void) {
  return table[klee_range(0, 5, "i")]; //~ out-of-bounds
}
