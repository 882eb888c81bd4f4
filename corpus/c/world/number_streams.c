#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int n = open("f", O_RDWR | O_CREAT, 0600);
  FILE *f = fdopen(n, "r+");
  printf("%d %d\n", f != 0, fileno(f) == n);
  fprintf(f, "%s-%03d", "abc", 7);
  fflush(f);
  lseek(n, 1, SEEK_SET);
  char b[8] = "";
  printf("%zd %s\n", read(n, b, 7), b);
  printf("%d\n", fdopen(99, "r") == 0);
  return fclose(f);
}
