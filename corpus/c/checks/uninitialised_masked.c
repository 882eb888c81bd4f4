// clean
#include <stdio.h>
int klee_range(int, int, const char *);
int main(void) {
  unsigned value;
  unsigned known = (value & 0) | 4;
  printf("%u\n", known);
  char line[8] = "ok";
  fwrite(line, 1, klee_range(0, 9, "n"), stdout);
  return (int)known - 4;
}
