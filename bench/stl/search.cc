// std::search: a pattern of three in eight.
#include "common.h"
int main() {
    fill(11);
    auto at = std::search(input, input + 8, input + 8, input + 11);
    if (at == input + 8) return 1;
    return at[0] * at[1] == 2 * at[2] ? 2 : 0;
}
