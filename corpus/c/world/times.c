#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>
static long stamp(void) {
  struct stat s;
  stat("f", &s);
  return (long)s.st_mtime;
}
int main(void) {
  close(creat("f", 0644));
  struct timeval t[2] = {{100, 0}, {200, 0}};
  printf("%d %ld\n", utimes("f", t), stamp());
  struct utimbuf u = {1, 300};
  printf("%d ", utime("f", &u));
  printf("%ld\n", stamp());
  struct timespec n[2] = {{5, 0}, {400, 0}};
  printf("%d ", utimensat(AT_FDCWD, "f", n, 0));
  printf("%ld\n", stamp());
  printf("%d %d\n", utimes("none", t), errno);
  return 0;
}
