// finds: out-of-bounds
// with: part_show.c
// As many bytes as the target has, from a source that is shorter.
#include "show.h"
int main(void) {
  char from[5] = "four", to[10];
  memset(to, '-', sizeof to);
  for (size_t i = 0; i < sizeof to - 1; i++) to[i] = from[i]; //~ out-of-bounds
  to[9] = 0;
  show_text(to);
  return 0;
}
