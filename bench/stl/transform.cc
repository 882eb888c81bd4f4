// std::transform through a table, then a sum.
#include "common.h"
static unsigned char table[64];
int main() {
    fill(4);
    for (int i = 0; i < 64; i++) table[i] = (unsigned char)(i * i + 3 * i + 7);
    unsigned char out[4];
    std::transform(input, input + 4, out, [](unsigned char v) { return table[v & 63]; });
    unsigned sum = 0;
    for (unsigned char v : out) {
        if (v > 128) sum += v; else sum ^= v;
    }
    if (sum == 300) return 1;
    return out[0] < out[1] ? 2 : 0;
}
