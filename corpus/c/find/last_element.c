// finds: null-dereference
// entry: last
struct node { int value; struct node *next; };
int last(struct node *n) {
  while (n->next) n = n->next; //~ null-dereference
  return n->value;
}
