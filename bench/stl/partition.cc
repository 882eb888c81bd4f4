// std::partition by a predicate with a product in it.
#include "common.h"
int main() {
    fill(5);
    auto wanted = [](unsigned char v) { return v * v % 7 < 3 && v < 150; };
    auto middle = std::partition(input, input + 5, wanted);
    return middle - input;
}
