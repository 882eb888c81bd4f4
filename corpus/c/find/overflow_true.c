// finds: overflow
// checks: overflow
int klee_int(const char *name);
int main(void) {
  int x = klee_int("x");
  if (x < 0) return 0;
  return x + 10 > 100; //~ overflow
}
