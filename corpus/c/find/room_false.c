// clean
// entry: all
// Declarations say how much arguments point to: there is nothing to report.
typedef unsigned long size;
static long sum(const int a[static 3]) { return (long)a[0] + a[1] + a[2]; }
static int last(size n, const char text[static n]) { return n ? text[n - 1] : 0; }
__attribute__((access(read_only, 2, 3), access(write_only, 1, 3)))
static void copy(int *to, const int *from, unsigned n) {
  for (unsigned i = 0; i < n; i++) to[i] = from[i];
}
void *xmalloc(size n) __attribute__((alloc_size(1)));
int all(const int a[static 3], size n, const char text[static n], unsigned m, const int *from)
    __attribute__((access(read_only, 5, 4)));
int all(const int a[static 3], size n, const char text[static n], unsigned m, const int *from) {
  int *own = xmalloc(m * sizeof *own);
  copy(own, from, m);
  return (sum(a) > 0) + last(n, text);
}
