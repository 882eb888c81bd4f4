#include <errno.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  char b[32];
  errno = 0;
  printf("%d %d\n", fopen("no/file", "w") == 0, errno);
  printf("%d %d\n", fopen("f", "q") == 0, errno);
  FILE *w = fopen("f", "w");
  fprintf(w, "line %d\n", 1);
  printf("%d %d\n", fgetc(w), ferror(w) != 0);
  fclose(w);
  printf("%d\n", fopen("f", "wx") == 0);
  FILE *a = fopen("f", "a+");
  fputs("line 2\n", a);
  rewind(a);
  printf("%s", fgets(b, sizeof b, a));
  printf("%s", fgets(b, sizeof b, a));
  printf("%d %d\n", fgets(b, sizeof b, a) == 0, feof(a) != 0);
  fclose(a);
  FILE *r = fopen("f", "r");
  printf("%d", fputc('x', r));
  printf(" %d\n", ferror(r) != 0);
  clearerr(r);
  fseek(r, -3, SEEK_END);
  printf("%d %ld\n", fgetc(r), ftell(r));
  fclose(r);
  FILE *u = fopen("f", "r+");
  fputs("LINE", u);
  fseek(u, 0, SEEK_SET);
  printf("%s", fgets(b, sizeof b, u));
  fclose(u);
  return 0;
}
