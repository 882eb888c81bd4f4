// finds: assertion
// symbolic-args: 3
#include <string.h>
#include <stdlib.h>
#include <assert.h>
int main(int argc, char **argv) {
  int verbose = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') {
      if (!strcmp(argv[i], "-v"))
        verbose = 1;
      else if (!strcmp(argv[i], "-xy"))
        abort(); //~ assertion
      else
        return 2;
    }
  }
  return verbose;
}
