// stdin: some text\nover two lines\n
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char buffer[5];
  int out = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ssize_t n, all = 0;
  while ((n = read(0, buffer, sizeof buffer)) > 0) all += write(out, buffer, n);
  close(out);
  struct stat s;
  stat("copy", &s);
  printf("%zd %ld\n", all, (long)s.st_size);
  FILE *f = fopen("copy", "r");
  char line[64];
  while (fgets(line, sizeof line, f)) printf("%zu %s", strlen(line), line);
  fclose(f);
  return unlink("copy");
}
