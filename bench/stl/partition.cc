// std::partition by a predicate with a product in it.
#include "common.h"
int main() {
    fill(5);
    auto wanted = [](unsigned char v) {
        if (v * v % 7 >= 3) return large++, false;
        if (v == 96 || v == 110) return high++, false;
        return true;
    };
    auto middle = std::partition(input, input + 5, wanted);
    return middle - input;
}
