#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int a = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644), b = open("log", O_WRONLY | O_APPEND);
  write(a, "a1 ", 3);
  write(b, "b1 ", 3);
  lseek(a, 0, SEEK_SET);
  write(a, "a2 ", 3);
  char all[32] = "";
  int r = open("log", O_RDONLY);
  printf("%zd %s\n", read(r, all, 31), all);
  printf("%d\n", (fcntl(a, F_GETFL) & O_APPEND) != 0);
  unlink("log");
  lseek(r, 0, SEEK_SET);
  printf("%zd\n", read(r, all, 31));
  printf("%d\n", open("log", O_RDONLY));
  return 0;
}
