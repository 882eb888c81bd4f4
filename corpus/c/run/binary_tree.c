#include <stdio.h>
#include <stdlib.h>
typedef struct tree { int key; struct tree *left, *right; } tree;
static tree *insert(tree *t, int key) {
  if (!t) { t = calloc(1, sizeof *t); t->key = key; return t; }
  if (key < t->key) t->left = insert(t->left, key); else if (key > t->key) t->right = insert(t->right, key);
  return t;
}
static int depth(const tree *t) { if (!t) return 0; int l = depth(t->left), r = depth(t->right); return 1 + (l > r ? l : r); }
static void show(const tree *t) { if (t) { show(t->left); printf("%d ", t->key); show(t->right); } }
static void drop(tree *t) { if (t) { drop(t->left); drop(t->right); free(t); } }
int main(void) {
  tree *root = NULL; unsigned x = 12345;
  for (int i = 0; i < 40; i++) { x = x * 1103515245u + 12345u; root = insert(root, (int)(x >> 16) % 100); }
  show(root); printf("\ndepth %d\n", depth(root)); drop(root); return 0;
}
