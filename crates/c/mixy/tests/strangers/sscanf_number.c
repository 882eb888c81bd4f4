#include <stdio.h>
static int *p;
static int number(const char *s) { int n = 0; sscanf(s, "%d", &n); return n; }
int main(int argc, char **argv) {
  if (number("7") == 7) *p = 1; //~ 
  return 0;
}
