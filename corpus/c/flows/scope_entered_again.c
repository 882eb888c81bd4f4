// clean
// Blocks that are left and entered again, by loops, jumps and cases: each time their locals are there.
#include <assert.h>
int klee_range(int low, int high, const char *name);
int main(void) {
  int n = klee_range(0, 4, "n"), i = 0, sum = 0;
again:;
  int here[3];
  here[i] = i;
  int *p = &here[i];
  sum += *p;
  if (i++ < 2) goto again;
  switch (n) {
    int set;
  case 1:
    set = 5;
    p = &set;
    sum += *p;
    break;
  case 2: {
    int other[2] = {6, 7};
    p = other;
    sum += p[1];
  }
  }
  do {
    int once = n;
    p = &once;
    if (*p == 3) continue;
    sum++;
  } while (n < 0);
  assert(sum == 3 + (n == 1) * 5 + (n == 2) * 7 + (n != 3));
  return 0;
}
