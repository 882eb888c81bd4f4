// std::search: a pattern of three in eight, by a predicate that folds letters through a table.
#include "common.h"
static unsigned char fold[256];
int main() {
    fill(11);
    for (int i = 0; i < 256; i++) fold[i] = (unsigned char)(i >= 'a' && i <= 'z' ? i - 32 : i);
    auto same = [](unsigned char a, unsigned char b) { return fold[a] == b; };
    auto at = std::search(input, input + 8, input + 8, input + 11, same);
    if (at == input + 8) return 1;
    return at[0] * at[1] == 2 * at[2] ? 2 : 0;
}
