// entry: total
struct node { int value; struct node *_Nullable next; };
__attribute__((nonnull)) int total(struct node *first) {
  int sum = first->value;
  return sum + first->next->value; //~ null-dereference
}
