#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv) {
  int all[] = { 1, 3, 5 }, key = argc;
  int *found = bsearch(&key, all, 3, sizeof all[0], compare);
  return *found; //~ x
}
