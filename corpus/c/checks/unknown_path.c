// clean
// symbolic-args: 3
// symbolic-file: cfg=2
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "r");
  if (!file) return 1;
  if (strcmp(argv[1], "cfg") && strcmp(argv[1], ".") && strcmp(argv[1], "/")) abort();
  fclose(file);
  return 0;
}
