// checks: floats
int klee_range(int, int, const char *);
int main(void) {
  double scale = klee_range(0, 3, "s") == 2 ? 1e10 : 10;
  int n = (int)(scale * 3); //~ float-conversion
  return n > 5;
}
