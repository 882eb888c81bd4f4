// args: kitten sitting
#include <stdio.h>
#include <string.h>
int main(int c, char **v) { if (c < 3) return 2; size_t n = strlen(v[1]), m = strlen(v[2]); int d[n + 1][m + 1]; for (size_t i = 0; i <= n; i++) for (size_t j = 0; j <= m; j++) { if (!i || !j) { d[i][j] = (int)(i + j); continue; } int best = d[i - 1][j - 1] + (v[1][i - 1] != v[2][j - 1]); if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1; if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1; d[i][j] = best; } printf("%d\n", d[n][m]); }
