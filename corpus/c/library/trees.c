// args: 1 14
// search.h and sorting: sequences of insertions and removals, with the shape of the tree after each.
#define _GNU_SOURCE
#include "probe.h"
#include <search.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int order_r(const void *a, const void *b, void *how) { return *(int *)how * order(a, b); }
static void shown(const void *node, VISIT visit, int depth) { printf(" %d.%d.%d", **(int *const *)node, (int)visit, depth); }
static void shown_r(const void *node, VISIT visit, void *kept) {
  if (visit == leaf || visit == postorder) ++*(int *)kept, printf(" %d", **(int *const *)node);
}
static int freed;
static void gone(void *key) { freed += *(int *)key; }
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) {
    static int keys[32];
    void *root = NULL;
    unsigned most = 1 + below(16);
    for (unsigned i = 0; i < 2 * most; i++) {
      int *key = &keys[below(32)];
      *key = (int)(key - keys) % 24;
      int **found;
      if (below(3)) {
        found = tsearch(key, &root, order);
        printf("+%d=%d", *key, found ? **found : -1);
      } else {
        found = tfind(key, &root, order);
        printf("-%d?%d", *key, found ? **found : -1);
        void *parent = tdelete(key, &root, order);
        printf("=%d", parent ? 1 : 0);
      }
      twalk(root, shown), putchar('\n');
    }
    int seen = 0;
    twalk_r(root, shown_r, &seen);
    freed = 0;
    tdestroy(root, gone);
    printf(": %d %d\n", seen, freed);
    int list[24], sorted = (int)below(20);
    size_t held = 0;
    for (int i = 0; i < sorted; i++) {
      int key = (int)below(30);
      int *there = lfind(&key, list, &held, sizeof key, order);
      int *now = lsearch(&key, list, &held, sizeof key, order);
      printf("%ld.%ld.%zu ", there ? there - list : -1L, now - list, held);
    }
    int how = below(2) ? 1 : -1;
    qsort_r(list, held, sizeof *list, order_r, &how);
    for (size_t i = 0; i < held; i++) printf(" %d", list[i]);
    qsort(list, held, sizeof *list, order);
    int key = (int)below(30);
    int *there = bsearch(&key, list, held, sizeof key, order);
    printf(" %ld", there ? there - list : -1L);
    /* Equal keys stay in their order. */
    struct pair { int key, other; } pairs[20];
    for (int i = 0; i < 20; i++) pairs[i].key = (int)below(4), pairs[i].other = i;
    qsort(pairs, 20, sizeof *pairs, order);
    for (int i = 0; i < 20; i++) printf(" %d.%d", pairs[i].key, pairs[i].other);
    putchar('\n');
  }
  return 0;
}
