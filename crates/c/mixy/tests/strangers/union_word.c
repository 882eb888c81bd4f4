#include <stdint.h>
union word { uint64_t bits; int *p; };
static int n = 3;
static int get(union word w) { return *w.p; } //~ 
int main(int argc, char **argv) {
  union word w;
  w.bits = 0;
  if (argc > 1) w.p = &n;
  return get(w);
}
