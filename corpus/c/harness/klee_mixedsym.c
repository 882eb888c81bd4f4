// clean
#include "klee/klee.h"
#include <string.h>
struct s {
  char tag;
  int val;
  char name[8];
};
int main() {
  struct s a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  b = a;
  klee_assert(b.val == a.val);
  a.name[7] = 0;
  b.name[7] = 0;
  if (strcmp(a.name, b.name)) klee_assert(0);
  return 0;
}
