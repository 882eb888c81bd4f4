// symbolic-env: MODE=3
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char *mode = getenv("MODE");
  char copy[3];
  strcpy(copy, mode); //~ out-of-bounds
  return getenv("OTHER") != 0;
}
