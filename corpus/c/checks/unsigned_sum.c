// checks: unsigned
int klee_int(const char *);
int main(void) {
  unsigned a = klee_int("a"), b = 10;
  unsigned c = a + b; //~ unsigned-overflow
  return c == 3;
}
