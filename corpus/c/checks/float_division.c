// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  double n = 4;
  if (klee_range(0, 2, "none")) n = 0;
  double mean = 10.0 / n; //~ float-division-by-zero
  return mean > 3;
}
