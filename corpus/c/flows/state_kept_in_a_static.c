// finds: null-dereference
// with: part_show.c
// symbolic-stdin: 3
// Set in one function, used in another, through loops, a switch and a goto.
#include "show.h"
static int value = 7;
static int *kept;
static void set(int how) {
  switch (how) {
  case 'a':
    kept = &value;
    break;
  case 'b':
    kept = NULL;
    break;
  default:
    break;
  }
}
int main(void) {
  int c;
  kept = &value;
  while ((c = getchar()) != EOF) {
    set(c);
    if (c == 'x') goto use;
  }
  return 0;
use:
  return *kept; //~ null-dereference
}
