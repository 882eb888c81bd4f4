// args: one "two words" 3
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  printf("%d\n", argc);
  for (int i = 1; i < argc; i++) printf("[%s] %d\n", argv[i], atoi(argv[i]));
  return argv[argc] == NULL ? 0 : 1;
}
