// finds: out-of-bounds
// symbolic-args: 6
#include <string.h>
int main(int argc, char **argv) {
  char name[4];
  if (argc < 2) return 1;
  strcpy(name, argv[1]); //~ out-of-bounds
  return name[0];
}
