// finds: invalid-free
// with: part_show.c
// symbolic-stdin: 2
// The pointer that walks along the text is the one that is freed.
#include "show.h"
int main(void) {
  char *text = malloc(8);
  if (!text) return 1;
  text[0] = 0;
  if (!fgets(text, 8, stdin)) text[0] = 0;
  while (*text && *text != 'S') text++;
  free(text); //~ invalid-free
  return 0;
}
