#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b); //~ 
}
int main(int argc, char **argv) {
  char *names[] = { "b", argc > 1 ? "c" : NULL, "a" };
  qsort(names, 3, sizeof names[0], compare);
  return 0;
}
