// std::max_element, and what stands behind the largest.
#include "common.h"
int main() {
    fill(6);
    auto at = std::max_element(input, input + 5);
    if (at[1] * 2 > at[0]) return 1;
    return at == input + 4 ? 2 : 0;
}
