// finds: use-after-free
// A local of a block, used after the block by a pointer that outlives it.
int klee_int(const char *name);
static int *latest;
static void keep(int *p) { latest = p; }
int main(void) {
  int n = klee_int("n"), sum = 0;
  for (int i = 0; i < 2; i++) {
    int squares[2] = {i, i * i};
    keep(squares);
    sum += latest[1];
  }
  if (n == 3) {
    int inner = 4;
    keep(&inner);
    return *latest;
  }
  return n > 3 ? *latest : sum; //~ use-after-free
}
