#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static struct node *push(struct node *head, int value) {
  struct node *n = malloc(sizeof *n);
  n->value = value, n->next = head;
  return n;
}
static struct node *reverse(struct node *head) {
  struct node *before = NULL;
  while (head) { struct node *next = head->next; head->next = before; before = head; head = next; }
  return before;
}
int main(void) {
  struct node *list = NULL;
  for (int i = 0; i < 10; i++) list = push(list, i * i);
  list = reverse(list);
  for (struct node *n = list; n; n = n->next) printf("%d ", n->value);
  puts("");
  while (list) { struct node *next = list->next; free(list); list = next; }
}
