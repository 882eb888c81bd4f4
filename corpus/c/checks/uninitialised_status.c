// stdin: x
int klee_range(int, int, const char *);
int main(void) {
  int status;
  if (klee_range(0, 2, "ok")) status = 0;
  return status; //~ uninitialised
}
