// clean
// failing-calls: 2
// symbolic-file: data=2
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char bytes[2];
  FILE *file = fopen("data", "r");
  if (!file) return errno == EIO ? 1 : (abort(), 2);
  size_t got = fread(bytes, 1, 2, file);
  if (got < 2 && !ferror(file)) abort();
  fclose(file);
  return got;
}
