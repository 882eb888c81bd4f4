// Three ways to die: a division by zero, an index that leaves its array, an assertion.
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
static int table[8];
int divide(int a, int b) { return a / b; }
int main(void) {
    unsigned char in[4];
    if (read(0, in, 4) != 4) return 1;
    if (in[0] == 1) return divide(100, in[1] - 7);
    if (in[0] == 2) return *(int *)((char *)table + ((long)in[1] << 32));
    assert(in[0] != 3);
    return 0;
}
