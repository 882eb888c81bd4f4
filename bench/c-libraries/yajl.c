/* JSON text of five unknown bytes becomes a tree. */
#include <klee/klee.h>
#include <yajl/yajl_tree.h>

int main(void) {
  char text[6], error[64];
  klee_make_symbolic(text, sizeof text, "text");
  text[5] = 0;
  yajl_val tree = yajl_tree_parse(text, error, sizeof error);
  yajl_tree_free(tree);
  return tree == 0;
}
