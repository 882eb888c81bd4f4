// finds: out-of-bounds null-dereference
// entry: sum
int sum(int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i]; //~ out-of-bounds null-dereference
  return s;
}
