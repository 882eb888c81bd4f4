#include <stddef.h>
struct s { int pad; int n; int arr[4]; };
static int *where(struct s *p) { return &p->n; }
static int pick(struct s *p, int i) { return p->arr[i]; } //~ a b
int main(int argc, char **argv) {
  struct s a = { 0 };
  int *q = where(argc == 2 ? NULL : &a);
  if (argc == 3) return pick(NULL, 2);
  return *q; //~ a
}
