// std::copy through an index that the input chooses.
#include "common.h"
int main() {
    fill(4);
    int from[16], to[16];
    for (int i = 0; i < 16; i++) from[i] = i * i, to[i] = -1;
    unsigned start = input[0] & 7, length = input[1] & 7, out = input[2] & 7;
    std::copy(from + start, from + start + length, to + out);
    if (to[input[3] & 15] == 49) return 1;
    return to[8] > 20 ? 2 : 0;
}
