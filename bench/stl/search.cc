// std::search: a pattern of three in eight, by a predicate on classes of characters that stand in a table.
#include "common.h"
static unsigned char kind[256];
int main() {
    fill(11);
    for (int i = 0; i < 256; i++) kind[i] = (unsigned char)((i * i * 7 + i * 3) >> 2 & 3);
    auto same = [](unsigned char a, unsigned char b) { return kind[a] == kind[b] && a != 'L' && b != 'R'; };
    auto at = std::search(input, input + 8, input + 8, input + 11, same);
    if (at == input + 8) return 1;
    return at[0] + at[1] == 2 * at[2] ? 2 : 0;
}
