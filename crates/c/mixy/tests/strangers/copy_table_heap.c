#include <stdlib.h>
#include <string.h>
struct s { int k; int *p; };
static int v;
static const struct s table[2] = { { 1, &v }, { 2, NULL } };
int main(int argc, char **argv) {
  struct s *q = malloc(sizeof table);
  if (!q) return 1;
  memcpy(q, table, sizeof table);
  if (argc > 1) return *q[1].p; //~ x
  return *q[0].p;
}
