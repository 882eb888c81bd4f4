// Insertion sort of four unknown numbers.
#include <stdio.h>
int klee_range(int, int, const char *);
int main(void) {
  int a[4];
  for (int i = 0; i < 4; i++) a[i] = klee_range(-5, 6, "a");
  for (int i = 1; i < 4; i++)
    for (int j = i; j > 0 && a[j - 1] > a[j]; j--) { int t = a[j]; a[j] = a[j - 1]; a[j - 1] = t; }
  for (int i = 0; i < 4; i++) printf("%d ", a[i]);
  return a[0] & 7;
}
