#include <stdlib.h>
#include <string.h>
#include <stdio.h>
struct pair { char *a, *b; };
static int fill(struct pair **out, int fail) {
  int rc = -1;
  struct pair *p = NULL;
  if (fail == 1) goto done;
  p = calloc(1, sizeof *p);
  if (!p) goto done;
  p->a = strdup("a");
  if (fail == 2) { rc = 0; goto done; }
  p->b = strdup("b");
  rc = 0;
done:
  *out = p;
  return rc;
}
int main(int argc, char **argv) {
  struct pair *p;
  int rc = fill(&p, argc - 1);
  if (argc == 2) puts(p->a); //~ x
  if (rc) return 1;
  puts(p->a);
  puts(p->b); //~ x y
  return 0;
}
