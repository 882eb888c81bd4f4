#include <stddef.h>
static int even(int n, int **p);
static int odd(int n, int **p) { if (n == 0) { *p = NULL; return 0; } return even(n - 1, p); }
static int even(int n, int **p) { if (n == 0) return 1; return odd(n - 1, p); }
int main(int argc, char **argv) {
  int v = 5, *p = &v;
  even(argc, &p);
  return *p; //~ 
}
