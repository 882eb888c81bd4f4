#include <stdlib.h>
int main(int argc, char **argv) {
  char *end;
  long n = strtol(argc > 1 ? argv[1] : "12", &end, 10);
  return *end ? 1 : (int)n & 1;
}
