// clean
int klee_int(const char *);
int main(void) {
  unsigned a = klee_int("a");
  return a * 3u == 1;
}
