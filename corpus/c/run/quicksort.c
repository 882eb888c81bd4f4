#include <stdio.h>
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static void quick(int *a, int low, int high) {
  if (low >= high) return;
  int p = a[(low + high) / 2], i = low, j = high;
  while (i <= j) { while (a[i] < p) i++; while (a[j] > p) j--; if (i <= j) swap(&a[i++], &a[j--]); }
  quick(a, low, j); quick(a, i, high);
}
int main(void) { int a[] = {9, -3, 5, 2, 6, 8, -6, 1, 3, 3, 0}; int n = sizeof a / sizeof *a; quick(a, 0, n - 1); for (int i = 0; i < n; i++) printf("%d%c", a[i], i + 1 < n ? ' ' : '\n'); }
