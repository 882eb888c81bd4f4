#include <stdio.h>
#include <unistd.h>
int main(void) {
  char b[64] = "";
  FILE *f = fopen("in", "w");
  fputs("first\nsecond\n", f);
  fclose(f);
  if (!freopen("in", "r", stdin)) return 1;
  fprintf(stderr, "%d %s", fileno(stdin), fgets(b, sizeof b, stdin));
  if (!freopen("out", "w", stdout)) return 2;
  printf("hidden %d\n", fileno(stdout));
  fflush(stdout);
  FILE *o = fopen("out", "r");
  fprintf(stderr, "%s", fgets(b, sizeof b, o));
  fclose(o);
  fprintf(stderr, "%d\n", freopen("none", "r", stdin) == 0);
  return 0;
}
