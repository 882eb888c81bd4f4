// clean
// entry: search
struct tree { int key; struct tree *left, *right; };
struct tree *search(struct tree *t, int key) {
  while (t && t->key != key) t = key < t->key ? t->left : t->right;
  return t;
}
