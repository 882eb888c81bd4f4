// checks: conversions
int klee_int(const char *);
int main(void) {
  int n = klee_int("n");
  unsigned u = n; //~ lossy-conversion
  return u > 5;
}
