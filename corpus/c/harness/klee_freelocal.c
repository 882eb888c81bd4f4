// finds: invalid-free
#include <stdlib.h>
int main() {
  int buf[4];
  free(buf); //~ invalid-free
  return 0;
}
