// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  double zero = 0, infinity = 1e308 * 10;
  double x = klee_range(0, 2, "x") ? infinity : 1;
  double y = x * zero; //~ not-a-number
  return y == y;
}
