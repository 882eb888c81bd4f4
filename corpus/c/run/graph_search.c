#include <stdio.h>
#include <string.h>
#define N 8
static const int edges[][3] = {{0, 1, 4}, {0, 2, 1}, {2, 1, 2}, {1, 3, 5}, {2, 3, 8}, {3, 4, 3}, {5, 6, 1}};
int main(void) { int d[N]; memset(d, 0x3f, sizeof d); d[0] = 0; for (int r = 0; r < N; r++) for (unsigned e = 0; e < sizeof edges / sizeof *edges; e++) if (d[edges[e][0]] + edges[e][2] < d[edges[e][1]]) d[edges[e][1]] = d[edges[e][0]] + edges[e][2]; for (int i = 0; i < N; i++) d[i] >= 0x3f3f3f3f ? printf("- ") : printf("%d ", d[i]); puts(""); int parent[N]; for (int i = 0; i < N; i++) parent[i] = i; for (unsigned e = 0; e < 7; e++) { int a = edges[e][0], b = edges[e][1]; while (parent[a] != a) a = parent[a]; while (parent[b] != b) b = parent[b]; parent[a] = b; } int sets = 0; for (int i = 0; i < N; i++) sets += parent[i] == i; printf("%d\n", sets); }
