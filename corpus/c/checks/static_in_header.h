static int through(int *p) { return deep(p); }
