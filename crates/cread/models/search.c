/* search.h: binary trees, unbalanced, and search with insertion. The first field of a node is its key: users look at it. */
#include "model.h"

typedef int (*order)(const void *, const void *);
struct node {
  const void *key;
  struct node *left, *right;
};
static struct node **place(const void *key, struct node **at, order compare) {
  while (*at) {
    int c = compare(key, (*at)->key);
    if (c == 0) break;
    at = c < 0 ? &(*at)->left : &(*at)->right;
  }
  return at;
}
void *tfind(const void *key, void *const *root, order compare) {
  return root ? *place(key, (struct node **)root, compare) : NULL;
}
void *tsearch(const void *key, void **root, order compare) {
  if (!root) return NULL;
  struct node **at = place(key, (struct node **)root, compare);
  if (*at) return *at;
  struct node *made = malloc(sizeof *made);
  if (!made) return NULL;
  made->key = key, made->left = made->right = NULL;
  return *at = made;
}
void *tdelete(const void *key, void **root, order compare) {
  if (!root) return NULL;
  struct node **at = (struct node **)root, *parent = NULL, *gone;
  while (*at) {
    int c = compare(key, (*at)->key);
    if (c == 0) break;
    parent = *at;
    at = c < 0 ? &(*at)->left : &(*at)->right;
  }
  if (!(gone = *at)) return NULL;
  if (gone->left && gone->right) {
    /* Its successor takes its place. */
    struct node **next = &gone->right;
    while ((*next)->left) next = &(*next)->left;
    struct node *moved = *next;
    *next = moved->right;
    moved->left = gone->left, moved->right = gone->right;
    *at = moved;
  } else {
    *at = gone->left ? gone->left : gone->right;
  }
  free(gone);
  return parent ? (void *)parent : (void *)root;
}
enum visit { preorder, postorder, endorder, leaf };
static void walk(const struct node *node, void (*action)(const void *, enum visit, int), int depth) {
  if (!node->left && !node->right) {
    action(node, leaf, depth);
    return;
  }
  action(node, preorder, depth);
  if (node->left) walk(node->left, action, depth + 1);
  action(node, postorder, depth);
  if (node->right) walk(node->right, action, depth + 1);
  action(node, endorder, depth);
}
void twalk(const void *root, void (*action)(const void *, enum visit, int)) {
  if (root) walk(root, action, 0);
}
void *lsearch(const void *key, void *base, size_t *count, size_t size, order compare) {
  for (size_t i = 0; i < *count; i++)
    if (compare(key, (char *)base + i * size) == 0) return (char *)base + i * size;
  return memcpy((char *)base + (*count)++ * size, key, size);
}
