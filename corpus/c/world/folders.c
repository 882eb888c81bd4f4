#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int by_name(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
static void list(const char *path) {
  char *names[16];
  int n = 0;
  DIR *d = opendir(path);
  if (!d) {
    printf("%s: %d\n", path, errno);
    return;
  }
  for (struct dirent *e; (e = readdir(d));)
    if (n < 16) {
      char text[300];
      snprintf(text, sizeof text, "%s%s", e->d_name, e->d_type == DT_DIR ? "/" : "");
      names[n++] = strdup(text);
    }
  closedir(d);
  qsort(names, n, sizeof *names, by_name);
  for (int i = 0; i < n; i++) printf("%s ", names[i]), free(names[i]);
  puts("");
}
int main(void) {
  printf("%d %d\n", mkdir("d", 0755), mkdir("d", 0755));
  printf("%d %d\n", mkdir("x/y", 0755), errno == ENOENT);
  mkdir("d/e", 0700);
  close(creat("d/f", 0644));
  close(creat("d/.hidden", 0644));
  list("d");
  list("d/e");
  list("none");
  list("d/f");
  printf("%d %d\n", rmdir("d"), errno == ENOTEMPTY);
  printf("%d %d\n", rmdir("d/f"), errno == ENOTDIR);
  printf("%d %d\n", unlink("d/f"), unlink("d/f"));
  printf("%d %d %d\n", unlink("d/.hidden"), rmdir("d/e"), rmdir("d"));
  list("d");
  return 0;
}
