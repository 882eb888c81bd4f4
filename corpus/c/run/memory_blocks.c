#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { int *a = malloc(4 * sizeof *a); for (int i = 0; i < 4; i++) a[i] = i + 1; a = realloc(a, 100 * sizeof *a); for (int i = 4; i < 100; i++) a[i] = a[i - 1] + a[i - 4]; printf("%d\n", a[40]); a = realloc(a, 2 * sizeof *a); printf("%d %d\n", a[0], a[1]); free(a); free(NULL); long *z = calloc(5, sizeof *z); long s = 0; for (int i = 0; i < 5; i++) s |= z[i]; printf("%ld\n", s); free(z); char **grid = malloc(3 * sizeof *grid); for (int i = 0; i < 3; i++) { grid[i] = malloc(4); memset(grid[i], 'a' + i, 3); grid[i][3] = 0; } char *copy[3]; memcpy(copy, grid, sizeof copy); for (int i = 0; i < 3; i++) { printf("%s ", copy[i]); free(grid[i]); } puts(""); free(grid); }
