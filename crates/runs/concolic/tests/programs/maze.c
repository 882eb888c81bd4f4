// A password of three parts: arithmetic, a comparison by the C library, a bit test.
#include <stdio.h>
#include <string.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    unsigned char in[16];
    if (read(0, in, sizeof in) != sizeof in) return 1;
    if (in[0] + in[1] * 3 != 301) return 2;
    if (memcmp(in + 2, "key:", 4) != 0) return 3;
    if ((in[6] ^ in[7]) != 0x55 || in[6] < 0x80) return 4;
    target();
}
