#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char c;
  close(0);
  errno = 0;
  fprintf(stderr, "%zd %d\n", read(0, &c, 1), errno);
  int f = open("f", O_RDWR | O_CREAT, 0600);
  fprintf(stderr, "%d\n", f);
  write(f, "q", 1);
  lseek(f, 0, SEEK_SET);
  fprintf(stderr, "%d %c\n", getchar() == 'q', 'q');
  close(1);
  errno = 0;
  fprintf(stderr, "%zd %d\n", write(1, "x", 1), errno);
  fprintf(stderr, "%d\n", open("f", O_RDONLY));
  fprintf(stderr, "%zd %zd\n", read(-1, &c, 1), write(77, &c, 1));
  return 0;
}
