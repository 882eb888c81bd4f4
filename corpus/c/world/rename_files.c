#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static void make(const char *name, const char *text) {
  FILE *f = fopen(name, "w");
  fputs(text, f);
  fclose(f);
}
static void show(const char *name) {
  char b[32] = "";
  FILE *f = fopen(name, "r");
  if (!f) {
    printf("%s -\n", name);
    return;
  }
  fgets(b, sizeof b, f);
  printf("%s %s\n", name, b);
  fclose(f);
}
int main(void) {
  make("a", "one");
  make("b", "two");
  mkdir("d", 0755);
  make("d/c", "three");
  printf("%d\n", rename("a", "b"));
  show("a"), show("b");
  printf("%d %d\n", rename("none", "x"), errno);
  printf("%d %d\n", rename("b", "d"), errno);
  printf("%d %d\n", rename("d", "d/inner"), errno);
  printf("%d\n", rename("d", "e"));
  show("e/c"), show("d/c");
  printf("%d %d\n", rename("b", "no/b"), errno);
  printf("%d %d\n", remove("e"), errno == ENOTEMPTY);
  printf("%d %d %d\n", remove("e/c"), remove("e"), remove("e"));
  return 0;
}
