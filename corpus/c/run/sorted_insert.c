// stdin: 5 3 9 1 7 7 -2
#include <stdio.h>
#include <stdlib.h>
struct node { int v; struct node *next; };
int main(void) {
  struct node *head = NULL; int v;
  while (scanf("%d", &v) == 1) {
    struct node **at = &head;
    while (*at && (*at)->v < v) at = &(*at)->next;
    struct node *n = malloc(sizeof *n); n->v = v; n->next = *at; *at = n;
  }
  for (; head; head = head->next) printf("%d\n", head->v);
}
