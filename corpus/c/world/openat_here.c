#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  int f = openat(AT_FDCWD, "f", O_CREAT | O_RDWR, 0640);
  struct stat s;
  printf("%d %zd\n", f, write(f, "12345", 5));
  printf("%d %ld %o\n", fstatat(AT_FDCWD, "f", &s, 0), (long)s.st_size, s.st_mode & 0777);
  printf("%d %d\n", faccessat(AT_FDCWD, "f", R_OK, 0), faccessat(AT_FDCWD, "g", R_OK, 0));
  printf("%d %d\n", mkdirat(AT_FDCWD, "d", 0755), renameat(AT_FDCWD, "f", AT_FDCWD, "d/g"));
  printf("%d\n", openat(AT_FDCWD, "d/g", O_RDONLY));
  printf("%d %d\n", openat(77, "x", O_RDONLY), errno == EBADF);
  printf("%d %d\n", unlinkat(AT_FDCWD, "d/g", 0), unlinkat(AT_FDCWD, "d", AT_REMOVEDIR));
  return 0;
}
