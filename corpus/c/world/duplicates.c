#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char b[4] = "";
  int f = open("f", O_RDWR | O_CREAT, 0600), g = dup(f);
  write(f, "abcdef", 6);
  lseek(g, 2, SEEK_SET);
  read(f, b, 2);
  printf("%d %d %s %ld\n", f, g, b, (long)lseek(g, 0, SEEK_CUR));
  printf("%d %d %d\n", dup2(f, 9), fcntl(f, F_DUPFD, 20), dup2(f, f));
  printf("%d %d\n", dup(55), errno);
  printf("%d %d\n", fcntl(9, F_GETFL) & O_ACCMODE, fcntl(1, F_GETFD));
  fcntl(g, F_SETFD, FD_CLOEXEC);
  printf("%d %d %d\n", fcntl(g, F_GETFD), fcntl(f, F_GETFD), fcntl(99, F_GETFD));
  fflush(stdout);
  int out = dup(1);
  dup2(f, 1);
  write(1, "XY", 2);
  dup2(out, 1);
  lseek(f, 0, SEEK_SET);
  char all[16] = "";
  printf("%zd %s\n", read(f, all, 15), all);
  return 0;
}
