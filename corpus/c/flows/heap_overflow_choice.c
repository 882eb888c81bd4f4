// finds: out-of-bounds
// bounds: stands-in
// with: part_show.c
// Whether the NUL fits depends on a random choice.
#include "show.h"
int main(void) {
  srand((unsigned)time(NULL));
  char *copy = malloc(random_choice() ? 8 : 9);
  if (!copy) return 1;
  strcpy(copy, "parallax"); //~ out-of-bounds
  show_text(copy);
  free(copy);
  return 0;
}
