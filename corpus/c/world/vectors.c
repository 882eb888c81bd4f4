#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void) {
  char a[3] = "", b[5] = "";
  int f = open("f", O_RDWR | O_CREAT, 0600);
  struct iovec out[] = {{"one", 3}, {"", 0}, {"two!", 4}}, in[] = {{a, 2}, {b, 4}};
  printf("%zd\n", writev(f, out, 3));
  lseek(f, 0, SEEK_SET);
  printf("%zd %.2s %.4s\n", readv(f, in, 2), a, b);
  printf("%zd\n", readv(f, in, 2));
  return 0;
}
