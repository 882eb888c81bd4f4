#include <string.h>
#include <stdio.h>
int main(int argc, char **argv) {
  char line[] = "key";
  char *key = strtok(line, " ");
  char *value = strtok(NULL, " ");
  printf("%s", key);
  return value[0]; //~ 
}
