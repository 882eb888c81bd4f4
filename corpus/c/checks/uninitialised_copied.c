// clean
#include <string.h>
#include <stdio.h>
struct pair {
  int a, b;
};
static struct pair half(int x) {
  struct pair p;
  p.a = x;
  return p;
}
int main(void) {
  struct pair p = half(3), q;
  memcpy(&q, &p, sizeof q);
  printf("%d\n", q.a);
  return 0;
}
