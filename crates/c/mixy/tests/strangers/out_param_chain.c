#include <stddef.h>
struct ctx { int id; };
static struct ctx one = { 1 };
static int lookup(int id, struct ctx **out) { if (id == 1) { *out = &one; return 0; } *out = NULL; return -1; }
static int open_ctx(int id, struct ctx **out) { return lookup(id, out); }
int main(int argc, char **argv) {
  struct ctx *c;
  open_ctx(argc, &c);
  if (open_ctx(1, &c) == 0 && argc == 1) return c->id;
  open_ctx(argc, &c);
  return c->id; //~ x
}
