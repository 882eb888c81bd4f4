#include <stddef.h>
static int *g;
static int v;
__attribute__((constructor)) static void early(void) { g = &v; *g = 1; }
static int *h;
__attribute__((destructor)) static void late(void) { *h = 2; } //~ 
int main(int argc, char **argv) { *g = 3; if (argc > 1) h = &v; return 0; }
