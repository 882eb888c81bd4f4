#include <stdio.h>
int klee_range(int, int, const char *);
int main(void) {
  int value;
  if (klee_range(0, 2, "set")) value = 5;
  printf("%d\n", value); //~ uninitialised
  return 0;
}
