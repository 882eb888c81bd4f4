// stdin: abc
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
int main(void) {
  struct stat s;
  for (int i = 0; i < 4; i++) printf("%d %d\n", fstat(i, &s), i < 3 ? S_ISFIFO(s.st_mode) : errno);
  struct winsize size;
  struct termios t;
  errno = 0;
  printf("%d %d\n", isatty(0), errno);
  errno = 0;
  printf("%d %d\n", ioctl(0, TIOCGWINSZ, &size), errno);
  errno = 0;
  printf("%d %d\n", tcgetattr(1, &t), errno);
  errno = 0;
  printf("%d %d\n", isatty(42), errno);
  printf("%d %d\n", (int)lseek(0, 0, SEEK_CUR), errno);
  printf("%d %d\n", ttyname(0) == 0, getchar());
  return 0;
}
