// finds: null-dereference
// symbolic-args: 2 2?
// An option that was not given leaves its text at nothing.
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const char *name = NULL;
  int all = 0, c;
  opterr = 0;
  while ((c = getopt(argc, argv, "an:")) != -1) switch (c) {
    case 'a':
      all = 1;
      break;
    case 'n':
      name = optarg;
      break;
    default:
      return 2;
    }
  if (all) return name[0]; //~ null-dereference
  return 0;
}
