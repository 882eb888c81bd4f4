// checks: conversions
int klee_int(const char *);
int main(void) {
  int n = klee_int("n");
  unsigned char low = n; //~ lossy-conversion
  return low == 200;
}
