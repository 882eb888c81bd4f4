#include <string.h>
#include <stddef.h>
struct two { int *x, *y; };
static int v;
int main(int argc, char **argv) {
  int *all[2] = { &v, argc > 1 ? NULL : &v };
  struct two t;
  memcpy(&t, all, sizeof t);
  *t.x = 1;
  *t.y = 2; //~ x
  return 0;
}
