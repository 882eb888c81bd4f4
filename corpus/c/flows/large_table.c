// finds: out-of-bounds
// Unknown length, unknown index, large table: one state each, and the one place too far is found.
#include <stdlib.h>
#include <string.h>
int klee_int(const char *name);
static unsigned short table[65536];
int main(void) {
  unsigned n = (unsigned)klee_int("n"), k = (unsigned)klee_int("k");
  if (n > 70000 || k >= n) return 0;
  char *used = calloc(n, 1);
  if (!used) return 1;
  memset(used, 'u', n);
  if (used[k] == 'u' && k == n - 1) table[k] = 0; //~ out-of-bounds
  free(used);
  return 0;
}
