#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int visible(const struct dirent *e) { return e->d_name[0] != '.'; }
int main(void) {
  mkdir("d", 0755);
  const char *names[] = {"d/b", "d/a10", "d/a9", "d/.x"};
  for (int i = 0; i < 4; i++) close(creat(names[i], 0644));
  struct dirent **list;
  int n = scandir("d", &list, visible, alphasort);
  printf("%d\n", n);
  for (int i = 0; i < n; i++) puts(list[i]->d_name), free(list[i]);
  free(list);
  printf("%d\n", scandir("none", &list, 0, 0));
  return 0;
}
