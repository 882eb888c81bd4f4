#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char *home;
  if ((home = getenv("PARALLAX_NO_SUCH_VARIABLE")) == NULL && argc > 1)
    return 1;
  return home[0]; //~ 
}
