#include <stddef.h>
#define FIRST(l) ((l) ? (l)->next : NULL)
struct l { struct l *next; int k; };
static struct l a = { NULL, 1 };
int main(int argc, char **argv) {
  struct l *p = FIRST(&a);
  if (argc > 1) return FIRST(p)->k; //~ x
  return p ? p->k : 0;
}
