// symbolic-args: 3
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  (void)argc;
  char *copy = strdup(argv[1]), *at;
  int n = atoi(copy);
  if ((at = strchr(copy, '-'))) *at = '+';
  printf("%s %d\n", copy, (int)strlen(copy));
  int result = strcmp(copy, "ab") < 0 ? n & 15 : 100;
  free(copy);
  return result;
}
