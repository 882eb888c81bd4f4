// clean
#include <stddef.h>
#include <stdlib.h>
extern void reach_error(void);
struct list_head {
  struct list_head *next, *prev;
};
#define container_of(ptr, type, member)                                                                      \
  ({                                                                                                         \
    const typeof(((type *)0)->member) *__mptr = (ptr);                                                       \
    (type *)((char *)__mptr - offsetof(type, member));                                                       \
  })
#define LIST_HEAD(n) struct list_head n = {&(n), &(n)}
struct item {
  int v;
  struct list_head link;
};
static inline void list_add(struct list_head *n, struct list_head *h) {
  h->next->prev = n;
  n->next = h->next;
  n->prev = h;
  h->next = n;
}
static inline void list_del(struct list_head *e) {
  e->next->prev = e->prev;
  e->prev->next = e->next;
  e->next = (void *)0x100;
  e->prev = (void *)0x200;
}
int main() {
  LIST_HEAD(h);
  for (int i = 0; i < 3; i++) {
    struct item *x = malloc(sizeof *x);
    x->v = i;
    list_add(&x->link, &h);
  }
  int s = 0;
  while (h.next != &h) {
    struct item *x = container_of(h.next, struct item, link);
    s = s * 10 + x->v;
    list_del(&x->link);
    free(x);
  }
  if (s != 210) reach_error();
  return 0;
}
