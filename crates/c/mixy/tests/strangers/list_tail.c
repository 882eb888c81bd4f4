#include <stdlib.h>
struct node { int key; struct node *next; };
static struct node *push(struct node *head, int key) {
  struct node *n = malloc(sizeof *n);
  if (!n) exit(1);
  n->key = key;
  n->next = head;
  return n;
}
static int second(struct node *head) { return head->next->key; } //~ 
static int safe(struct node *head) { return head && head->next ? head->next->key : 0; }
int main(int argc, char **argv) {
  struct node *list = NULL;
  for (int i = 0; i < argc; i++) list = push(list, i);
  return safe(list) + second(list);
}
