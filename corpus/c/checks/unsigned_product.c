// checks: unsigned
int klee_int(const char *);
int main(void) {
  unsigned n = klee_int("n");
  if (n > 100000) return 1;
  unsigned small = n * 4;
  unsigned large = n * 100000; //~ unsigned-overflow
  return small + (large & 1) == 3;
}
