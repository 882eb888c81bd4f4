#include <unistd.h>
int klee_range(int, int, const char *);
int main(void) {
  char line[4];
  int n = klee_range(2, 5, "n");
  for (int i = 0; i < n && i < 3; i++) line[i] = 'a';
  write(1, line, 3); //~ uninitialised
  return 0;
}
