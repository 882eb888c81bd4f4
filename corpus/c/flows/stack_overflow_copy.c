// finds: out-of-bounds
// with: part_show.c
// A block larger than the buffer; the same with enough room comes before.
#include "show.h"
static void fill(char *to, size_t count) {
  char from[80];
  memset(from, 'x', sizeof from - 1);
  from[sizeof from - 1] = 0;
  memcpy(to, from, count); //~ out-of-bounds
}
int main(void) {
  char large[80], small[40];
  fill(large, 80);
  show_text(large);
  fill(small, 80);
  show_text(small);
  return 0;
}
