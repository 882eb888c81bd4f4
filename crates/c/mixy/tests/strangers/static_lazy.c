#include <stdlib.h>
static int *cache;
static int *get(void) {
  if (cache == NULL) {
    cache = malloc(sizeof *cache);
    if (cache == NULL) abort();
    *cache = 7;
  }
  return cache;
}
static void reset(void) { free(cache); cache = NULL; }
int main(int argc, char **argv) {
  int n = *get();
  if (argc > 1) reset();
  n += *cache; //~ x
  return n & 1;
}
