// entry: outer
// A promise on a static function of another file of the same name is none here; one on its own prototype is.
// with: part_annotated_static.c
static int inner(int *p);
static int sure(int *_Nonnull p);
int (*keep[2])(int *) = {inner, sure};
int outer(int *p, int k) { return k ? inner(p) : sure(p); } //~ null-argument
static int inner(int *p) { return *p; } //~ null-dereference
static int sure(int *p) { return *p; }
