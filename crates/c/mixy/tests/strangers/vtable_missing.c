#include <stdlib.h>
struct shape;
struct ops { int (*area)(struct shape *); int (*name)(struct shape *); };
struct shape { const struct ops *ops; int side; };
static int square_area(struct shape *s) { return s->side * s->side; }
static const struct ops square = { .area = square_area };
static struct shape *make(int side) {
  struct shape *s = malloc(sizeof *s);
  if (!s) exit(1);
  s->ops = &square;
  s->side = side;
  return s;
}
int main(int argc, char **argv) {
  struct shape *s = make(argc);
  int a = s->ops->area(s);
  if (argc > 1) a += s->ops->name(s); //~ x
  free(s);
  return a & 1;
}
