// finds: uninitialised
int klee_int(const char *name);
static int pick(int x) {
  int result;
  if (x > 10) result = 1;
  else if (x < 0) result = 2;
  if (result == 2) return 5; //~ uninitialised
  return 6;
}
int main(void) { return pick(klee_int("x")); }
