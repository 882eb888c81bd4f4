// clean
// checks: unsigned
int klee_range(int, int, const char *);
int main(void) {
  unsigned a = klee_range(0, 100, "a"), b = klee_range(0, 100, "b");
  unsigned sum = a + b, difference = a > b ? a - b : b - a;
  return sum * difference == 77;
}
