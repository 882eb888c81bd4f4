#include <stdlib.h>
struct table { int n; char *names[]; };
static struct table *make(int n) {
  struct table *t = calloc(1, sizeof *t + n * sizeof t->names[0]);
  if (!t) exit(1);
  t->n = n;
  return t;
}
int main(int argc, char **argv) {
  struct table *t = make(argc);
  for (int i = 1; i < argc; i++) t->names[i] = argv[i];
  int sum = 0;
  for (int i = 0; i < t->n; i++) sum += t->names[i][0]; //~ 
  free(t);
  return sum & 1;
}
