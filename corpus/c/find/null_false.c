// clean
int klee_int(const char *name);
struct node { int value; struct node *next; };
static int second(struct node *n) { return n->next ? n->next->value : -1; }
int main(void) {
  struct node a = {1, 0}, b = {2, &a};
  int x = klee_int("x");
  return second(x > 3 ? &b : &a);
}
