// clean
#include <string.h>
int klee_int(const char *name);
struct pair { int a, b; };
static void assign(struct pair *to, struct pair *from) { *to = *from; }
int main(void) {
  char text[16] = "abcdefgh";
  struct pair pair = {1, 2};
  int n = klee_int("n");
  if (n < 0 || n > 4) return 0;
  memcpy(text, text + 4, (size_t)n);
  memmove(text, text + 1, (size_t)n);
  assign(&pair, &pair);
  return text[0] == 'c' && pair.b == 2;
}
