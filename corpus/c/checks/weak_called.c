extern int hook(int) __attribute__((weak));
int klee_range(int, int, const char *);
int main(void) {
  if (klee_range(0, 2, "called")) return hook(1); //~ null-dereference
  return 0;
}
