#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static void show(const char *path) {
  struct stat s;
  if (stat(path, &s)) {
    printf("%s: %d\n", path, errno);
    return;
  }
  printf("%s: %s%s %o %ld\n", path, S_ISREG(s.st_mode) ? "file" : "", S_ISDIR(s.st_mode) ? "folder" : "",
         s.st_mode & 07777, S_ISREG(s.st_mode) ? (long)s.st_size : 0L);
}
int main(void) {
  umask(027);
  close(open("f", O_CREAT | O_WRONLY, 0666));
  mkdir("d", 0777);
  chmod("f", 0604);
  truncate("f", 0);
  show("f"), show("d"), show("d/none"), show("f/none"), show("none/none");
  show("./d/../f"), show("d/"), show("f/"), show(".");
  struct stat a, b;
  stat("f", &a), stat("./f", &b);
  printf("%d %d\n", a.st_ino == b.st_ino, fstat(55, &a));
  printf("%o %d\n", umask(0), access("f", X_OK));
  chmod("f", 0755);
  printf("%d %d\n", access("f", X_OK), access("d", W_OK | X_OK));
  return 0;
}
