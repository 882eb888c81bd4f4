// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  int n = klee_range(0, 4, "n");
  double mean = 10.0 / n; //~ float-division-by-zero
  return mean > 3;
}
