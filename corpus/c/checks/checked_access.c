void klee_check_memory_access(const void *, unsigned long);
int klee_range(int, int, const char *);
int main(void) {
  char bytes[8];
  klee_check_memory_access(bytes, klee_range(7, 10, "n")); //~ out-of-bounds
  return 0;
}
