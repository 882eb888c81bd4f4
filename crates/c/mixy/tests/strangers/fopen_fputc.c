#include <stdio.h>
int main(int argc, char **argv) {
  FILE *f = fopen("/no/such/file", "r");
  if (argc > 3) { fseek(f, 0, SEEK_SET); } //~ a b c
  if (argc > 2) { int n; return fscanf(f, "%d", &n); } //~ a b
  if (argc > 1) { fputc('x', f); } //~ a
  FILE *g = fopen("/dev/null", "w");
  if (g) { fputc('y', g); fclose(g); }
  return 0;
}
