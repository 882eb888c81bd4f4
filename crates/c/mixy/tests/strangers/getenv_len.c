#include <stdlib.h>
#include <string.h>
#include <stdio.h>
static size_t width(const char *name) {
  const char *v = getenv(name);
  return strlen(v); //~ 
}
int main(void) { printf("%zu\n", width("PARALLAX_NO_SUCH_VARIABLE")); return 0; }
