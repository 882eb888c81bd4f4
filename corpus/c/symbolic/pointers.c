// Reads and writes through pointers that may be several things.
#include <stdio.h>
int klee_range(int, int, const char *);
struct cell { int value; struct cell *next; };
int main(void) {
  struct cell c[3] = {{1, &c[1]}, {2, &c[2]}, {3, &c[0]}};
  int i = klee_range(0, 3, "i"), j = klee_range(0, 3, "j"), k = klee_range(0, 4, "k");
  struct cell *p = &c[i], *q = &c[j];
  p->value = 10 + k;
  p->next = q->next;
  for (int n = 0; n < k; n++) q = q->next;
  printf("%c", 'a' + q->value);
  if (p == q) putchar('=');
  return c[0].value + c[1].value * 3 + c[2].value * 5;
}
