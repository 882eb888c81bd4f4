// finds: invalid-free
// with: part_show.c
// By way of a function pointer, an array of pointers and a union.
#include "show.h"
union either {
  char *text;
  void *any;
};
static void drop(union either *all, int at) { free(all[at].any); } //~ invalid-free
int main(void) {
  void (*action)(union either *, int) = drop;
  char local[4] = "abc";
  union either all[2];
  all[0].text = malloc(4);
  all[1].text = local;
  action(all, 0);
  action(all, 1);
  return 0;
}
