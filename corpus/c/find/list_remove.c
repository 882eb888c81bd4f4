// finds: null-dereference
// entry: remove_item
struct item { int id; struct item *prev, *next; };
void remove_item(struct item *i) {
  if (!i) return;
  i->prev->next = i->next; //~ null-dereference
  if (i->next) i->next->prev = i->prev;
}
