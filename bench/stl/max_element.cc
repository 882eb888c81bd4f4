// std::max_element by a weight that is partly in a table.
#include "common.h"
static const unsigned char extra[16] = {9, 200, 31, 4, 115, 66, 7, 180, 19, 10, 91, 12, 143, 54, 15, 16};
int main() {
    fill(6);
    auto lighter = [](unsigned char a, unsigned char b) {
        if (a + extra[a & 15] < b + extra[b & 15]) return large++, true;
        return high++, false;
    };
    auto at = std::max_element(input, input + 6, lighter);
    return at - input;
}
