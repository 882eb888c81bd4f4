// finds: out-of-bounds
// symbolic-stdin: 3
#include <stdio.h>
int main(void) {
  char buffer[2];
  int n = 0, c;
  while ((c = getchar()) != EOF && c != '\n') buffer[n++] = (char)c; //~ out-of-bounds
  return n > 0 && buffer[0] == 'q';
}
