// clean
// entry: reverse
struct node { int value; struct node *next; };
struct node *reverse(struct node *head) {
  struct node *before = 0;
  while (head) {
    struct node *next = head->next;
    head->next = before;
    before = head;
    head = next;
  }
  return before;
}
