// std::random_shuffle, which C++17 dropped, with the input as its source of numbers; then a look at what went where.
#include "common.h"
int main() {
    fill(6);
    int values[6] = {3, 1, 4, 1, 5, 9};
    unsigned next = 0;
    auto draw = [&](long n) { return input[next++] % n; };
    std::random_shuffle(values, values + 6, draw);
    for (int i = 0; i < 4; i++) {
        if (values[i] > 3) large++;
        if (input[i] == 'K') high++;
    }
    return large > high ? 1 : 0;
}
