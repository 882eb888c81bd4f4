// finds: leak
// with: part_show.c
// failing-malloc: yes
// When growing fails, the old block is still there, and nobody knows where.
#include "show.h"
int main(void) {
  char *text = malloc(8); //~ leak
  if (!text) return 1;
  strcpy(text, "short");
  text = realloc(text, 64);
  if (!text) return 1;
  show_text(text);
  free(text);
  return 0;
}
