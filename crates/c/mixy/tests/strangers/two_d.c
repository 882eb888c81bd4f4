#include <stdlib.h>
int main(int argc, char **argv) {
  int **rows = calloc(3, sizeof *rows);
  if (!rows) return 1;
  for (int i = 0; i < 2; i++) { rows[i] = malloc(8); if (!rows[i]) return 1; }
  rows[1][1] = 5;
  rows[argc > 1 ? 2 : 0][1] = 5; //~ x
  return 0;
}
