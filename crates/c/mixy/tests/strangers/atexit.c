#include <stdlib.h>
static int *counter;
static void bye(void) { *counter = 1; } //~ 
int main(void) { atexit(bye); return 0; }
