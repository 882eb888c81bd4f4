// finds: null-dereference
// with: part_show.c
// Both sides of & are computed, of && only as many as are needed.
#include "show.h"
struct pair {
  int first, second;
};
static int careful(struct pair *p) { return p != NULL && p->first == 5; }
static int hasty(struct pair *p) { return (p != NULL) & (p->first == 5); } //~ null-dereference
int main(void) {
  show_number(careful(NULL));
  show_number(hasty(NULL));
  return 0;
}
