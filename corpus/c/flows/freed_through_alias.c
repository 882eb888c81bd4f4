// finds: double-free
// with: part_show.c
// Two names for one pointer, each of which frees it.
#include "show.h"
struct holder {
  int *value;
};
static void release(struct holder holder) { free(holder.value); } //~ double-free
int main(void) {
  struct holder one = {malloc(4)}, two = one;
  release(one);
  release(two);
  return 0;
}
