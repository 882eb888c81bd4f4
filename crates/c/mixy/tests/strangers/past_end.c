#include <string.h>
#include <stddef.h>
static const char *words[] = { "x", "y", NULL };
int main(int argc, char **argv) {
  size_t n = 0;
  for (int i = 0; i < 3; i++) {
    if (argc == 1 && !words[i]) break;
    n += strlen(words[i]); //~ x
  }
  return (int)n & 1;
}
