#include <stdio.h>
#include <string.h>
#define H 6
#define W 8
int main(void) { char g[H][W + 1] = {"........", "..X.....", "...X....", ".XXX....", "........", "........"}, n[H][W + 1]; for (int t = 0; t < 6; t++) { memcpy(n, g, sizeof g); for (int i = 0; i < H; i++) for (int j = 0; j < W; j++) { int k = 0; for (int a = -1; a <= 1; a++) for (int b = -1; b <= 1; b++) if (a || b) k += g[(i + a + H) % H][(j + b + W) % W] == 'X'; n[i][j] = k == 3 || (k == 2 && g[i][j] == 'X') ? 'X' : '.'; } memcpy(g, n, sizeof g); } for (int i = 0; i < H; i++) puts(g[i]); }
