#include <stdio.h>
#include <stdlib.h>
struct item { int id; struct item *prev, *next; };
static struct item head = {0, &head, &head};
static void add(int id) { struct item *i = malloc(sizeof *i); i->id = id; i->prev = head.prev; i->next = &head; head.prev->next = i; head.prev = i; }
static void drop(struct item *i) { i->prev->next = i->next; i->next->prev = i->prev; free(i); }
int main(void) {
  for (int i = 1; i <= 9; i++) add(i);
  for (struct item *i = head.next, *n; i != &head; i = n) { n = i->next; if (i->id % 3 == 0) drop(i); }
  for (struct item *i = head.prev; i != &head; i = i->prev) printf("%d,", i->id);
  printf("\n"); while (head.next != &head) drop(head.next);
}
