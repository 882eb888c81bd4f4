// finds: assertion
// symbolic-args: 3
#include <stdlib.h>
#include <assert.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  assert(n != 42); //~ assertion
  return 0;
}
