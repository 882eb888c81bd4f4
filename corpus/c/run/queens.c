#include <stdio.h>
static int n = 6, column[8], found;
static int safe(int r, int c) { for (int i = 0; i < r; i++) if (column[i] == c || column[i] - c == i - r || column[i] - c == r - i) return 0; return 1; }
static void place(int r) { if (r == n) { found++; if (found == 1) for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) putchar(column[i] == j ? 'Q' : '.'); putchar('\n'); } return; } for (int c = 0; c < n; c++) if (safe(r, c)) { column[r] = c; place(r + 1); } }
int main(void) { place(0); printf("%d\n", found); }
