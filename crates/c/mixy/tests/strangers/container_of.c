#include <stddef.h>
struct link { struct link *next; };
struct item { int key; struct link link; };
#define ITEM(l) ((struct item *)((char *)(l) - offsetof(struct item, link)))
static struct item one = { 1, { NULL } };
int main(int argc, char **argv) {
  struct link *l = &one.link;
  int n = ITEM(l)->key;
  l = l->next;
  if (argc > 1) n += ITEM(l->next)->key; //~ x
  return n;
}
