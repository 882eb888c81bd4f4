// symbolic-stdin: 4
// Words and numbers of an unknown text.
#include <ctype.h>
#include <stdio.h>
int main(void) {
  int c, words = 0, numbers = 0, others = 0, in = 0;
  while ((c = getchar()) != EOF) {
    if (isalpha(c)) { if (in != 1) words++; in = 1; }
    else if (isdigit(c)) { if (in != 2) numbers++; in = 2; }
    else { in = 0; if (!isspace(c)) others++; }
  }
  printf("%d %d %d\n", words, numbers, others);
  return words > numbers;
}
