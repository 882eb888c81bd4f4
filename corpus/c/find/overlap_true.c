// finds: overlapping-copy
#include <string.h>
int klee_int(const char *name);
int main(void) {
  char text[16] = "abcdefgh";
  int n = klee_int("n");
  if (n < 0 || n > 4) return 0;
  memcpy(text, text + 2, (size_t)n); //~ overlapping-copy
  return text[0] == 'c';
}
