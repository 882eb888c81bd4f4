// finds: out-of-bounds
// with: part_show.c
// Text that is longer than what the format was thought to make.
#include "show.h"
int main(void) {
  char small[10], exact[12];
  sprintf(exact, "%s-%d", "left", 123456);
  sprintf(small, "%s-%d", "left", 123456); //~ out-of-bounds
  show_text(exact);
  show_text(small);
  return 0;
}
