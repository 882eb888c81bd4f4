// finds: assertion
// What KLEE's own header has beside the usual: merging, values, memory, failing by hand.
#include <klee/klee.h>
void klee_assert_fail(const char *what, const char *file, unsigned line, const char *function);
int main(void) {
  int x = klee_range(0, 10, "x");
  klee_open_merge();
  int y = x > 5 ? 1 : 2;
  klee_close_merge();
  klee_check_memory_access(&x, sizeof x);
  klee_prefer_cex(&x, x == 7);
  if (klee_get_value_i32(x) == x && klee_get_obj_size(&x) == 4 && y == 1 && x == 9)
    klee_assert_fail("x", "file", 1, "main"); //~ assertion
  return 0;
}
