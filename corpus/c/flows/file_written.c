// clean
// symbolic-file: in=2
// What is written to a file is what is read back from it.
#include <assert.h>
#include <stdio.h>
int main(void) {
  FILE *in = fopen("in", "rb"), *out = fopen("out", "w+b");
  assert(in && out);
  int a = fgetc(in), b = fgetc(in);
  assert(fgetc(in) == EOF && feof(in));
  fprintf(out, "%c%c", b, a);
  fseek(out, 0, SEEK_END);
  assert(ftell(out) == 2);
  rewind(out);
  assert(fgetc(out) == b);
  assert(fgetc(out) == a);
  fclose(in);
  fclose(out);
  assert(remove("out") == 0);
  assert(!fopen("out", "r"));
  return 0;
}
