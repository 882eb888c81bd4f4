#include <string.h>
struct inner { int *p; }; struct outer { int k; struct inner in[2]; };
static int v;
static void clear(struct outer *o) { memset(o, 0, sizeof *o); }
int main(int argc, char **argv) {
  struct outer a, b;
  a.in[0].p = a.in[1].p = &v;
  if (argc > 1) clear(&a);
  b = a;
  memcpy(&a, &b, sizeof a);
  *a.in[1].p = 1; //~ x
  return 0;
}
