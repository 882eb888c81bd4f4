// clean
// checks: overflow
int klee_int(const char *name);
int main(void) {
  int x = klee_int("x");
  if (x < 0 || x > 1000) return 0;
  return x * x + 10 > 100;
}
