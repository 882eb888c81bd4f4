#include <stddef.h>
struct s { int n; };
static int use(struct s *p) {
  if (p != NULL || p->n == 0) return 1; //~ x
  return 0;
}
static int right(struct s *p) { if (p == NULL || p->n == 0) return 1; return 0; }
int main(int argc, char **argv) { struct s a = { 3 }; return right(argc > 1 ? NULL : &a) + use(argc > 1 ? NULL : &a); }
