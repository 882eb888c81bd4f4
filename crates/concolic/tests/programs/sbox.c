// Sixteen look-ups in a table, each of which depends on the one before.
#include <stdio.h>
#include <unistd.h>
static unsigned char box[256];
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    for (int i = 0; i < 256; i++) box[i] = (unsigned char)(i * 167 + 13);
    unsigned char in[4], state = 7;
    if (read(0, in, 4) != 4) return 1;
    for (int round = 0; round < 16; round++) state = box[state ^ in[round % 4]];
    if (state == 0xA5 && in[0] == 'x') target();
    return 0;
}
