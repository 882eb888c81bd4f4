#include <stdio.h>
struct p { int x; struct p *next; };
static int sum(struct p *p) { int s = 0; while (p) { s += p->x; p = p->next; } return s; }
int main(int argc, char **argv) {
  struct p a = {1, 0}, b = {2, &a};
  switch (argc) { case 1: puts("one"); break; case 2: puts("two"); break; default: return 3; }
  printf("%d\n", sum(&b));
  return argv[0][0] == 0;
}
