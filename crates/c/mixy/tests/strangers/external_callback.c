#include <search.h>
#include <stddef.h>
static int *seen;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void visit(const void *node, VISIT which, int depth) { (void)node; (void)depth; if (which == leaf) ++*seen; } //~ 
int main(void) {
  void *root = NULL; int k = 1;
  tsearch(&k, &root, compare);
  twalk(root, visit);
  return 0;
}
