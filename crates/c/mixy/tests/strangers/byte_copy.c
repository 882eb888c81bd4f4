#include <stddef.h>
struct s { int *p; };
static int v;
static void copy(void *to, const void *from, size_t n) { char *t = to; const char *f = from; while (n--) *t++ = *f++; }
int main(int argc, char **argv) {
  struct s a = { argc > 1 ? NULL : &v }, b = { &v };
  copy(&b, &a, sizeof a);
  *b.p = 1; //~ x
  return 0;
}
