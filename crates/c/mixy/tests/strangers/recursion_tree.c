#include <stdlib.h>
struct tree { int key; struct tree *left, *right; };
static struct tree *insert(struct tree *t, int key) {
  if (!t) {
    t = calloc(1, sizeof *t);
    if (!t) exit(1);
    t->key = key;
    return t;
  }
  if (key < t->key) t->left = insert(t->left, key);
  else t->right = insert(t->right, key);
  return t;
}
static int sum(const struct tree *t) { return t ? t->key + sum(t->left) + sum(t->right) : 0; }
static int leftmost(const struct tree *t) { while (t->left) t = t->left; return t->key; } //~ 
int main(int argc, char **argv) {
  struct tree *root = NULL;
  for (int i = 1; i < argc; i++) root = insert(root, argv[i][0]);
  return (sum(root) + leftmost(root)) & 1;
}
