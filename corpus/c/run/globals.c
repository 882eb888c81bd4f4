#include <stdio.h>
struct config { const char *name; int values[3]; struct config *next; int (*check)(int); };
static int even(int x) { return x % 2 == 0; }
static struct config second = {"second", {4, 5, 6}, NULL, NULL}, first = {"first", {1, 2, 3}, &second, even};
int grid[2][3] = {{1, 2, 3}, {4, 5, 6}}; int *middle = &grid[1][1]; char *words[] = {"a", "bc", "def", NULL}; const char buffer[10] = "hey"; static double pi = 3.14159; long after = sizeof(struct config);
static int counter(void) { static int n = 10; return n++; }
int main(void) { for (struct config *c = &first; c; c = c->next) printf("%s %d %d\n", c->name, c->values[1], c->check ? c->check(c->values[1]) : -1); printf("%d %d %d\n", *middle, middle[1], middle[-4]); int n = 0; for (char **w = words; *w; w++) n += (*w)[0]; printf("%d %s %d %.3f %ld\n", n, buffer, buffer[9], pi, after); counter(); counter(); printf("%d\n", counter()); }
