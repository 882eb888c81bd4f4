#include <stddef.h>
static char buffer[8];
static char *current;
static char *next(void) {
  static int calls;
  if (calls++ == 2) current = NULL;
  return current;
}
int main(int argc, char **argv) {
  current = buffer;
  next()[0] = 1;
  next()[0] = 2;
  if (argc > 1) return 0;
  next()[0] = 3; //~ 
  return 0;
}
