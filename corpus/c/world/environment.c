// env: EMPTY= HOME=/home/me LANG=C
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv, char **given) {
  int n = 0, same = 1;
  for (char **at = environ; *at; at++, n++) same &= given[n] == *at;
  printf("%d %d %s [%s] %d\n", n, same, getenv("HOME"), getenv("EMPTY"), getenv("NONE") == 0);
  for (char **at = environ; *at; at++) puts(*at);
  return argc;
}
