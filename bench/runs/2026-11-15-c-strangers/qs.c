#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static void heapify(int *a, int n, int i) { for (;;) { int l = 2*i+1, r = l+1, m = i; if (l < n && a[l] > a[m]) m = l; if (r < n && a[r] > a[m]) m = r; if (m == i) return; swap(a+m, a+i); i = m; } }
static void heapsort_(int *a, int n) { for (int i = n/2-1; i >= 0; i--) heapify(a, n, i); for (int i = n-1; i > 0; i--) { swap(a, a+i); heapify(a, i, 0); } }
int klee_int(const char *);
int main(void) { int a[5]; for (int i = 0; i < 5; i++) a[i] = klee_int("a"); heapsort_(a, 5); for (int i = 1; i < 5; i++) assert(a[i-1] <= a[i]); return 0; }
