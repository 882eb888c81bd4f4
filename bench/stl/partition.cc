// std::partition by a predicate with a product in it.
#include "common.h"
int main() {
    fill(5);
    auto middle = std::partition(input, input + 5, [](unsigned char v) { return v * v % 7 == 2; });
    if (middle - input == 3) return 1;
    return middle != input && middle[-1] == 'a' ? 2 : 0;
}
