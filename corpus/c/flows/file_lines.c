// finds: assertion
// symbolic-file: list.txt=4
// Lines of a file: two of them, the second longer than the first.
#include <assert.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  char first[8], second[8];
  FILE *in = fopen("list.txt", "r");
  if (!in) return 1;
  if (!fgets(first, sizeof first, in)) return 2;
  if (!fgets(second, sizeof second, in)) {
    assert(feof(in));
    fclose(in);
    return 3;
  }
  fclose(in);
  assert(strlen(first) >= strlen(second)); //~ assertion
  return 0;
}
