// clean
// checks: conversions
int klee_range(int, int, const char *);
int main(void) {
  int n = klee_range(0, 255, "n");
  unsigned char low = n;
  char explicit = (char)(n + 400);
  return low + explicit == 9;
}
