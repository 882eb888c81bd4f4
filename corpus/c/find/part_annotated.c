struct node;
int total(struct node *_Nonnull first);
int use(struct node *n) { return total(n); }
