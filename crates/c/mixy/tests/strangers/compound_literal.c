#include <stddef.h>
struct opts { const char *name; int *count; };
static int run(const struct opts *o) { return *o->count; } //~ x
int main(int argc, char **argv) {
  int n = 2;
  if (argc > 1) return run(&(struct opts){ .name = "x" });
  return run(&(struct opts){ .name = "y", .count = &n });
}
