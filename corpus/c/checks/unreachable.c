int klee_int(const char *);
int main(void) {
  int x = klee_int("x");
  if (x == 7)
    __builtin_unreachable(); //~ unreachable
  return 0;
}
