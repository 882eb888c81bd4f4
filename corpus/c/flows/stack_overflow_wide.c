// finds: out-of-bounds
// with: part_show.c
// Wide characters are four bytes each, which the size forgets.
#include "show.h"
int main(void) {
  wchar_t word[] = L"parallax";
  wchar_t *good = malloc(sizeof word), *bad = malloc(sizeof word / sizeof *word);
  wcscpy(good, word);
  show_wide(good);
  wcscpy(bad, word); //~ out-of-bounds
  show_wide(bad);
  free(good);
  free(bad);
  return 0;
}
