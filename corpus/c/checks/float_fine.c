// clean
// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  int n = klee_range(1, 5, "n");
  double mean = 12.0 / n, nan = __builtin_nan("");
  double again = nan + 1;
  return (int)mean + (again != again);
}
