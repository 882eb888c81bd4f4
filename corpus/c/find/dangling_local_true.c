// finds: use-after-free
int klee_int(const char *name);
static int *keep;
static void set(int x) { int local = x; if (x > 0) keep = &local; }
int main(void) {
  int zero = 0;
  keep = &zero;
  set(klee_int("x"));
  return *keep; //~ use-after-free
}
