#include <stddef.h>
static int v;
static int *pick(int n) {
  int *p = NULL;
  switch (n) {
  case 1: p = &v; break;
  case 2: p = &v;
  case 3: break;
  default: return &v;
  }
  return p;
}
int main(int argc, char **argv) { *pick(1) = 1; return *pick(argc); } //~ a b
