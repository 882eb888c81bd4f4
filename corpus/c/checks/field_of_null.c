// entry: used
// The field lies behind more than a page of others.
struct table { int slots[4096]; int used; };
int used(struct table *t) {
  return t->used; //~ null-dereference
}
