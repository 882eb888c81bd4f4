// clean
// symbolic-args: 6
#include <string.h>
int main(int argc, char **argv) {
  char name[4];
  if (argc < 2 || strlen(argv[1]) >= sizeof name) return 1;
  strcpy(name, argv[1]);
  return name[0] != 0;
}
