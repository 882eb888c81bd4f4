// A checksum by table, where each index depends on what the table gave before, and the sum is part of the input.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
static uint32_t table[256];
int main(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
        table[i] = value;
    }
    unsigned char in[12];
    if (read(0, in, 12) != 12) return 1;
    uint32_t sum = ~0u, wanted = in[8] | in[9] << 8 | in[10] << 16 | (uint32_t)in[11] << 24;
    for (int i = 0; i < 8; i++) sum = table[(sum ^ in[i]) & 255] ^ sum >> 8;
    if (~sum == wanted && in[0] == 'P' && in[7] == 'X') target();
    return 0;
}
