// std::random_shuffle, which C++17 dropped, with the input as its source of numbers; then a look at what went where.
#include "common.h"
int main() {
    fill(6);
    int values[6] = {3, 1, 4, 1, 5, 9};
    unsigned next = 0;
    auto draw = [&](long n) { return input[next++] % n; };
    std::random_shuffle(values, values + 6, draw);
    if (values[0] == 9) return 1;
    if (values[5] > values[1]) return 2;
    return 0;
}
