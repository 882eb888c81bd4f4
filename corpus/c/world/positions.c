#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int f = open("f", O_RDWR | O_CREAT, 0600);
  char b[16];
  write(f, "0123456789", 10);
  printf("%ld %ld %ld\n", (long)lseek(f, 3, SEEK_SET), (long)lseek(f, 2, SEEK_CUR), (long)lseek(f, -1, SEEK_END));
  errno = 0;
  printf("%ld %d\n", (long)lseek(f, -99, SEEK_SET), errno);
  errno = 0;
  printf("%ld %d\n", (long)lseek(f, 0, 9), errno);
  printf("%zd %.3s %ld\n", pread(f, b, 3, 4), b, (long)lseek(f, 0, SEEK_CUR));
  printf("%zd\n", pwrite(f, "XY", 2, 1));
  lseek(f, 15, SEEK_SET);
  write(f, "end", 3);
  lseek(f, 0, SEEK_SET);
  ssize_t n = read(f, b, 16);
  for (ssize_t i = 0; i < n; i++) printf("%02x", b[i]);
  printf(" %zd\n", n);
  printf("%d ", ftruncate(f, 4));
  printf("%ld\n", (long)lseek(f, 0, SEEK_END));
  return 0;
}
