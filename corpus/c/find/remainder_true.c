// finds: overflow
int klee_int(const char *name);
int main(void) {
  long x = klee_int("high") < 0 ? -9223372036854775807L - 1 : 5, y = klee_int("y");
  if (y == 0) return 1;
  return x % y == 3; //~ overflow
}
