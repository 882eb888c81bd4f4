// finds: null-dereference out-of-bounds
// entry: last
// A pointer that may point into a structure with a union, and the element before it.
struct p { union { struct { void *a; long b; } s; void *c; } u; int i; int *top; };
static int use(int *i) { return *i; }
int last(struct p *p) {
  return *--p->top; //~ null-dereference out-of-bounds
}
int other(struct p *p) { return p ? use(&p->i) : 0; }
