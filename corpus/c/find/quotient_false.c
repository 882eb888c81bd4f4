// clean
int klee_int(const char *name);
int main(void) {
  int x = klee_int("x"), y = klee_int("y");
  if (y == 0 || (y == -1 && x == -2147483647 - 1)) return 1;
  return x / y == 3;
}
