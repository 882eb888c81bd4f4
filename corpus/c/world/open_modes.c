#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char b[8];
  printf("%d %d\n", open("none", O_RDONLY), errno);
  int w = open("f", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  printf("%d %zd\n", w, write(w, "hello", 5));
  errno = 0;
  printf("%zd %d\n", read(w, b, 2), errno);
  int r = open("f", O_RDONLY);
  errno = 0;
  printf("%zd %d\n", write(r, "x", 1), errno);
  printf("%zd %.2s\n", read(r, b, 2), b);
  printf("%d %d\n", open("f", O_WRONLY | O_CREAT | O_EXCL, 0644), errno);
  int a = open("f", O_WRONLY | O_APPEND);
  write(a, "!!", 2);
  int rw = open("f", O_RDWR);
  printf("%zd", read(rw, b, 8));
  printf(" %.7s\n", b);
  printf("%d %d %d %d\n", close(w), close(r), close(a), close(rw));
  errno = 0;
  printf("%d %d\n", close(rw), errno);
  printf("%d\n", open("f", O_RDONLY | O_TRUNC | O_RDWR));
  return 0;
}
