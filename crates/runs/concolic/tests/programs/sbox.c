// Sixteen look-ups in a table, each of which depends on the one before.
#include <stdio.h>
#include <unistd.h>
static unsigned char box[256];
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    unsigned seed = 12345;
    for (int i = 0; i < 256; i++) box[i] = (unsigned char)i;
    for (int i = 255; i > 0; i--) {
        seed = seed * 1103515245 + 12345;
        int j = (seed >> 16) % (i + 1);
        unsigned char old = box[i];
        box[i] = box[j];
        box[j] = old;
    }
    unsigned char in[16], state = 7;
    if (read(0, in, 16) != 16) return 1;
    for (int round = 0; round < 16; round++) {
        state = box[state ^ in[round]];
        if (round == 7 && state != 0x3C) return 2;
    }
    if (state == 0xA5 && in[3] == 'x') target();
    return 0;
}
