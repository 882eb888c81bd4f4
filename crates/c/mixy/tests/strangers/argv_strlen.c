#include <string.h>
int main(int argc, char **argv) {
  if (argc > 1) return strlen(argv[1]) > 3;
  return (int)strlen(argv[argc]); //~ 
}
