// finds: out-of-bounds
// entry: caller
// A call with less than the declaration asks for.
static int third(const int a[static 3]) { return a[2]; }
int caller(int x) {
  int two[2] = {x, 2};
  return third(two); //~ out-of-bounds
}
