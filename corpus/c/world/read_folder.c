#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char b[4];
  mkdir("d", 0755);
  int d = open("d", O_RDONLY);
  errno = 0;
  printf("%d %zd %d\n", d >= 0, read(d, b, 4), errno);
  errno = 0;
  printf("%d %d\n", open("d", O_WRONLY), errno);
  errno = 0;
  printf("%d %d\n", open("d", O_RDONLY | O_CREAT, 0644), errno);
  close(creat("f", 0644));
  errno = 0;
  printf("%d %d\n", open("f", O_RDONLY | O_DIRECTORY), errno);
  errno = 0;
  printf("%d %d\n", unlink("d"), errno);
  errno = 0;
  printf("%d %d\n", open("", O_RDONLY), errno);
  return rmdir("d");
}
