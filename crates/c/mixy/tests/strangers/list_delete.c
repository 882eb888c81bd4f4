#include <stdlib.h>
struct node { int key; struct node *next; };
static struct node *head;
static void add(int key) { struct node *n = malloc(sizeof *n); if (!n) abort(); n->key = key; n->next = head; head = n; }
static void drop(int key) {
  struct node **at = &head;
  while ((*at)->key != key) //~ 
    at = &(*at)->next;
  struct node *gone = *at;
  *at = gone->next;
  free(gone);
}
int main(int argc, char **argv) {
  add(1); add(2);
  drop(2);
  if (argc > 1) return 0;
  drop(3);
  return 0;
}
