// clean
// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  double n = 4;
  if (klee_range(0, 2, "more")) n = 5;
  double mean = 12.0 / n, nan = __builtin_nan("");
  double again = nan + 1;
  return (int)mean + (again != again);
}
