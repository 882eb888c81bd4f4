// std::max_element by a weight that is partly in a table, and what stands behind the largest.
#include "common.h"
static const unsigned char extra[16] = {9, 200, 31, 4, 115, 66, 7, 180, 19, 10, 91, 12, 143, 54, 15, 16};
int main() {
    fill(6);
    auto lighter = [](unsigned char a, unsigned char b) { return a + extra[a & 15] < b + extra[b & 15]; };
    auto at = std::max_element(input, input + 5, lighter);
    if (at[1] * at[1] > 2 * at[0]) return 1;
    return at == input + 4 ? 2 : 0;
}
