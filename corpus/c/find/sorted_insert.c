// clean
// entry: insert
struct node { int value; struct node *next; };
void insert(struct node **list, struct node *item) {
  if (!list || !item) return;
  while (*list && (*list)->value < item->value) list = &(*list)->next;
  item->next = *list;
  *list = item;
}
