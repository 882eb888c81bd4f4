// entry: choose
// A promise broken at a call, though nothing is read there.
__attribute__((nonnull)) static int same(const int *a, const int *b) { return a == b; }
static int near(const int *_Nonnull a) { return a != 0; }
int choose(int *p, int n) {
  int x = n;
  if (n == 1) return same(&x, p); //~ null-argument
  if (n == 2) return near(p); //~ null-argument
  if (p) return same(p, &x) + near(p);
  return same(&x, &x);
}
