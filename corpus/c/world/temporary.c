#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char a[] = "fileXXXXXX", b[] = "fileXXXXXX", d[] = "dirXXXXXX", bad[] = "noXs";
  int f = mkstemp(a), g = mkstemp(b);
  struct stat s;
  printf("%d %d %d %d\n", f >= 0, g >= 0, strcmp(a, b) != 0, strncmp(a, "file", 4));
  fstat(f, &s);
  printf("%o %d\n", s.st_mode & 0777, mkdtemp(d) == d);
  stat(d, &s);
  printf("%d %o\n", S_ISDIR(s.st_mode), s.st_mode & 0777);
  printf("%d %d\n", mkstemp(bad), errno == EINVAL);
  printf("%d %d %d\n", unlink(a), unlink(b), rmdir(d));
  FILE *t = tmpfile();
  fputs("x", t);
  rewind(t);
  printf("%d\n", fgetc(t));
  return 0;
}
