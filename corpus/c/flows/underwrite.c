// finds: out-of-bounds
// with: part_show.c
// A pointer that was moved back too far, through a pointer to it.
#include "show.h"
static void back(char **at) { *at -= 4; }
int main(void) {
  char buffer[12] = "0123456789";
  char *at = buffer + 4;
  back(&at);
  show_text(at);
  back(&at);
  at[0] = 'x'; //~ out-of-bounds
  show_text(buffer);
  return 0;
}
