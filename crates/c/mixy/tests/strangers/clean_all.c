#include <stdlib.h>
#include <string.h>
#include <stdio.h>
struct n { struct n *next; char *s; };
static struct n *cons(const char *s, struct n *next) {
  struct n *n = malloc(sizeof *n);
  if (!n) { perror("malloc"); exit(1); }
  n->s = strdup(s);
  n->next = next;
  return n;
}
static void release(struct n *l) { while (l) { struct n *t = l->next; free(l->s); free(l); l = t; } }
int main(int argc, char **argv) {
  struct n *l = NULL;
  for (int i = 1; i < argc; i++) l = cons(argv[i], l);
  for (struct n *p = l; p; p = p->next) puts(p->s);
  release(l);
  return 0;
}
