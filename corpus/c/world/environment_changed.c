// env: A=1 B=2
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
extern char **environ;
static int count(void) {
  int n = 0;
  while (environ && environ[n]) n++;
  return n;
}
int main(void) {
  static char own[] = "C=3";
  printf("%d %d %s\n", setenv("A", "9", 0), setenv("B", "8", 1), getenv("A"));
  printf("%s %d %d\n", getenv("B"), putenv(own), count());
  own[2] = '7';
  printf("%s %d %d\n", getenv("C"), unsetenv("A"), count());
  printf("%d %d %d\n", getenv("A") == 0, setenv("", "x", 1), errno == EINVAL);
  setenv("LONG", "some longer text", 1);
  setenv("LONG", "short", 1);
  printf("%s %d\n", getenv("LONG"), count());
  clearenv();
  printf("%d %d\n", count(), getenv("B") == 0);
  setenv("Z", "z", 1);
  printf("%s %d\n", getenv("Z"), count());
  return 0;
}
