// std::copy to a place that the input chooses; then a look at what came where.
#include "common.h"
int main() {
    fill(3);
    int from[8], to[16];
    for (int i = 0; i < 8; i++) from[i] = i * 5 % 8;
    for (int i = 0; i < 16; i++) to[i] = -1;
    int *out = to + (input[0] & 7);
    std::copy(from, from + 4, out);
    for (int i = 0; i < 3; i++) {
        if (to[2 * i + 1] > 1) large++;
        if (input[i] == 'K') high++;
    }
    return large > high ? 1 : 0;
}
