#include <stdlib.h>
static void drop(int **p) { **p = 0; } //~ x
int main(int argc, char **argv) {
  int v = 1;
  __attribute__((cleanup(drop))) int *x = &v;
  if (argc > 1) x = NULL;
  return 0;
}
