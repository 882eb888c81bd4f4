static int inner(int *_Nonnull p) { return *p + 1; }
int other(int *p) { return inner(p); }
