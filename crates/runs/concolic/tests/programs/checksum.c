// A checksum over the input that has to match, as file formats have, and a product of 128 bits.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
static uint32_t crc(const unsigned char *at, int length) {
    uint32_t sum = 0xffffffff;
    for (int i = 0; i < length; i++) {
        sum ^= at[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (0xedb88320 & -(sum & 1));
    }
    return ~sum;
}
int main(void) {
    unsigned char in[16];
    if (read(0, in, 16) != 16) return 1;
    uint32_t wanted = in[0] | in[1] << 8 | in[2] << 16 | (uint32_t)in[3] << 24;
    if (crc(in + 4, 4) != wanted) return 2;
    uint64_t factor = 0;
    for (int i = 0; i < 8; i++) factor = factor << 8 | in[8 + i];
    unsigned __int128 product = (unsigned __int128)factor * 0x9e3779b97f4a7c15u;
    if ((uint64_t)(product >> 64) != 0x1234567890abcdefu) return 3;
    target();
}
