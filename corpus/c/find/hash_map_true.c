// A map whose removal looks at the entry it has freed.
#include <klee/klee.h>
#include <stdlib.h>
struct entry { int key, value; struct entry *next; };
static struct entry *table[2];
static void put(int key, int value) {
  struct entry **bucket = &table[(unsigned)key % 2];
  for (struct entry *e = *bucket; e; e = e->next)
    if (e->key == key) { e->value = value; return; }
  struct entry *made = malloc(sizeof *made);
  if (!made) return;
  *made = (struct entry){key, value, *bucket};
  *bucket = made;
}
static void drop(int key) {
  struct entry **at = &table[(unsigned)key % 2];
  while (*at && (*at)->key != key) at = &(*at)->next;
  if (!*at) return;
  struct entry *gone = *at;
  free(gone);
  *at = gone->next; //~ use-after-free
}
int main(void) {
  for (int i = 0; i < 3; i++) {
    int remove = klee_range(0, 2, "remove"), key = klee_range(0, 3, "key");
    if (remove) drop(key);
    else put(key, i);
  }
  return 0;
}
