// finds: out-of-bounds
// with: part_show.c
// symbolic-stdin: 3
// An index that was read is checked on one side only.
#include "show.h"
int main(void) {
  char line[16];
  int table[10] = {0};
  if (!fgets(line, sizeof line, stdin)) return 1;
  int at = atoi(line);
  if (at < 10) table[at] = 1; //~ out-of-bounds
  if (at >= 0 && at < 10) table[at]++;
  return table[0];
}
