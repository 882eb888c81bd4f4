#include <stdio.h>
static int state(int n) {
  static const int distance[] = {(char *)&&one - (char *)&&one, (char *)&&two - (char *)&&one};
  goto *((char *)&&one + distance[n]);
one:
  return 1;
two:
  return 2;
}
int main(void) {
  printf("%d %d\n", state(0), state(1));
  return 0;
}
