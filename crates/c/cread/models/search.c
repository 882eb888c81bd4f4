/* search.h: red-black trees of the shape that glibc's have, and search with insertion. The first field of a node is its key: users
   look at it. */
#include "model.h"

typedef int (*order)(const void *, const void *);
struct node {
  const void *key;
  struct node *child[2];
  int red;
};
void *tfind(const void *key, void *const *root, order compare) {
  if (!root) return NULL;
  for (struct node *at = *root; at;) {
    int c = compare(key, at->key);
    if (c == 0) return at;
    at = at->child[c > 0];
  }
  return NULL;
}
/* The node takes the place of the one above it, which becomes its child. */
static struct node *rotated(struct node *above, int side) {
  struct node *node = above->child[side];
  above->child[side] = node->child[!side];
  node->child[!side] = above;
  return node;
}
static int is_red(const struct node *node) { return node && node->red; }
/* The deepest that a tree of red and black nodes gets. */
enum { DEEPEST = 130 };

void *tsearch(const void *key, void **tree, order compare) {
  if (!tree) return NULL;
  struct node **root = (struct node **)tree, **way[DEEPEST], **at = root;
  int sides[DEEPEST], deep = 0;
  if (*root) (*root)->red = 0;
  for (;;) {
    struct node *node = *at;
    int is_new = !node, c = is_new ? 0 : compare(key, node->key);
    if (!is_new && c == 0) return node;
    if (is_new) {
      node = malloc(sizeof *node);
      if (!node) return NULL;
      node->key = key, node->child[0] = node->child[1] = NULL;
      node->red = 1;
      *at = node;
    }
    /* On the way down nodes with two red children are split, so that there is always room below. */
    if (is_new || (is_red(node->child[0]) && is_red(node->child[1]))) {
      if (!is_new) node->child[0]->red = node->child[1]->red = 0;
      node->red = at != root || is_new;
      if (deep > 1 && is_red(*way[deep - 1])) {
        struct node **top = way[deep - 2], *above = *top;
        int side = sides[deep - 2], inner = sides[deep - 1];
        if (inner != side) above->child[side] = rotated(above->child[side], inner);
        *top = rotated(above, side);
        (*top)->red = 0, above->red = 1;
        if (!is_new) {
          /* The way from where the tree was turned, anew. */
          deep -= 2, at = top;
          while (*at != node) {
            way[deep] = at;
            sides[deep] = inner != side ? 0 : side;
            at = &(*at)->child[sides[deep++]];
          }
        }
      }
    }
    if (is_new) return node;
    way[deep] = at;
    sides[deep] = c > 0;
    at = &node->child[sides[deep++]];
  }
}
void *tdelete(const void *key, void **tree, order compare) {
  if (!tree) return NULL;
  struct node **root = (struct node **)tree, **way[DEEPEST], **at = root;
  int sides[DEEPEST], deep = 0, c;
  if (!*root) return NULL;
  while ((c = compare(key, (*at)->key)) != 0) {
    way[deep] = at;
    sides[deep] = c > 0;
    at = &(*at)->child[sides[deep++]];
    if (!*at) return NULL;
  }
  void *parent = deep ? *way[deep - 1] : *root;
  struct node *gone = *at;
  if (gone->child[0] && gone->child[1]) {
    /* Its successor gives it its key and goes. */
    struct node *kept = gone;
    way[deep] = at, sides[deep++] = 1;
    for (at = &gone->child[1]; (*at)->child[0]; at = &(*at)->child[0]) way[deep] = at, sides[deep++] = 0;
    gone = *at;
    kept->key = gone->key;
  }
  struct node *below = gone->child[gone->child[0] ? 0 : 1];
  *at = below;
  if (!gone->red) {
    /* One black node too few on this side. */
    while (deep && !is_red(below)) {
      struct node **top = way[--deep], *above = *top;
      int side = sides[deep];
      struct node *other = above->child[!side];
      if (other->red) {
        other->red = 0, above->red = 1;
        *top = rotated(above, !side);
        way[deep + 1] = top = &(*top)->child[side];
        deep++;
        other = above->child[!side];
      }
      if (!is_red(other->child[0]) && !is_red(other->child[1])) {
        other->red = 1;
        below = above;
        continue;
      }
      if (!is_red(other->child[!side])) {
        other->child[side]->red = 0, other->red = 1;
        above->child[!side] = rotated(other, side);
        other = above->child[!side];
      }
      other->red = above->red;
      above->red = other->child[!side]->red = 0;
      *top = rotated(above, !side);
      below = NULL;
      break;
    }
    if (below) below->red = 0;
  }
  free(gone);
  return parent;
}
enum visit { preorder, postorder, endorder, leaf };
static void walk(const struct node *node, void (*action)(const void *, enum visit, int), int depth) {
  if (!node->child[0] && !node->child[1]) {
    action(node, leaf, depth);
    return;
  }
  action(node, preorder, depth);
  if (node->child[0]) walk(node->child[0], action, depth + 1);
  action(node, postorder, depth);
  if (node->child[1]) walk(node->child[1], action, depth + 1);
  action(node, endorder, depth);
}
void twalk(const void *root, void (*action)(const void *, enum visit, int)) {
  if (root) walk(root, action, 0);
}
static void walk_with(const struct node *node, void (*action)(const void *, enum visit, void *), void *context) {
  if (!node->child[0] && !node->child[1]) {
    action(node, leaf, context);
    return;
  }
  action(node, preorder, context);
  if (node->child[0]) walk_with(node->child[0], action, context);
  action(node, postorder, context);
  if (node->child[1]) walk_with(node->child[1], action, context);
  action(node, endorder, context);
}
void twalk_r(const void *root, void (*action)(const void *, enum visit, void *), void *context) {
  if (root && action) walk_with(root, action, context);
}
void tdestroy(void *root, void (*action)(void *)) {
  struct node *node = root;
  if (!node) return;
  tdestroy(node->child[0], action);
  tdestroy(node->child[1], action);
  action((void *)node->key);
  free(node);
}
void *lsearch(const void *key, void *base, size_t *count, size_t size, order compare) {
  for (size_t i = 0; i < *count; i++)
    if (compare(key, (char *)base + i * size) == 0) return (char *)base + i * size;
  return memcpy((char *)base + (*count)++ * size, key, size);
}
