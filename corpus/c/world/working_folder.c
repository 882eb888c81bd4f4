#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char first[4096], second[4096];
  getcwd(first, sizeof first);
  mkdir("d", 0755);
  mkdir("d/e", 0755);
  printf("%d %d\n", chdir("d/e"), chdir("none"));
  close(creat("f", 0644));
  getcwd(second, sizeof second);
  printf("%s\n", second + strlen(first) - (strlen(first) == 1));
  printf("%d %d\n", access("f", F_OK), access("../e/f", F_OK));
  printf("%d %d %d\n", chdir("../.."), access("d/e/f", F_OK), access("f", F_OK));
  char *real = realpath("d/./e/../e/f", 0);
  printf("%s\n", real + strlen(first) - (strlen(first) == 1));
  free(real);
  printf("%d %d\n", chdir("d/e/f"), errno == ENOTDIR);
  printf("%d %d\n", getcwd(second, 1) == 0, errno == ERANGE);
  return 0;
}
