// Words counted in an open hash table (FNV-1a).
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SLOTS (1u << 16)
static uint64_t keys[SLOTS];
static uint32_t counts[SLOTS];

int main(void) {
    char word[24];
    uint32_t state = 1;
    for (int i = 0; i < 12000000; i++) {
        state = state * 1664525u + 1013904223u;
        int length = 4 + (state >> 28);
        uint64_t hash = 14695981039346656037ull;
        for (int j = 0; j < length; j++) {
            word[j] = 'a' + ((state >> (j & 7)) % 26);
            hash = (hash ^ (unsigned char)word[j]) * 1099511628211ull;
        }
        uint32_t at = hash & (SLOTS - 1);
        for (int tries = 0; keys[at] != hash && keys[at] != 0 && tries < 64; tries++) at = (at + 1) & (SLOTS - 1);
        keys[at] = hash;
        counts[at]++;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SLOTS; i++) sum = sum * 31 + counts[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
