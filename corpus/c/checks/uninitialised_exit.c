#include <stdlib.h>
int klee_range(int, int, const char *);
int main(void) {
  int status[2];
  status[klee_range(0, 2, "at")] = 3;
  exit(status[0]); //~ uninitialised
}
