// clean: the prototype that promises is in another file
// entry: total
// with: part_annotated.c
struct node { int value; struct node *next; };
int total(struct node *first) { return first->value; }
