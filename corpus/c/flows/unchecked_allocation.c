// finds: null-dereference
// with: part_show.c
// failing-malloc: yes
// One allocation is checked, the other is not.
#include "show.h"
int main(void) {
  char *first = calloc(4, 1);
  if (first) {
    first[0] = 'a';
    free(first);
  }
  char *second = malloc(4);
  second[0] = 'b'; //~ null-dereference
  free(second);
  return 0;
}
