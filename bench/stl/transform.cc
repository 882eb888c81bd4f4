// std::transform through a table, then a look at what came out and what went in.
#include "common.h"
static unsigned char table[64];
int main() {
    fill(4);
    for (int i = 0; i < 64; i++) table[i] = (unsigned char)(i * i + 3 * i + 7);
    unsigned char out[4];
    std::transform(input, input + 4, out, [](unsigned char v) { return table[v & 63]; });
    for (int i = 0; i < 4; i++) {
        if (out[i] > 100) large++;
        if (input[i] == 'R') high++;
    }
    return large > high ? 1 : 0;
}
