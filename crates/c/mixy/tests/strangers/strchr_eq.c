#include <string.h>
#include <stdio.h>
int main(int argc, char **argv) {
  if (argc < 2) return 1;
  char *eq = strchr(argv[1], '=');
  *eq = 0; //~ abc
  char *colon = strrchr(argv[1], ':');
  if (!colon) return 2;
  *colon = 0;
  puts(eq + 1);
  return 0;
}
