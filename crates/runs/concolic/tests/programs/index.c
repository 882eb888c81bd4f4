// A symbolic index that is written through and read back.
#include <stdio.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
static const unsigned char class[8] = {3, 1, 4, 1, 5, 9, 2, 6};
int main(void) {
    unsigned char in[4], array[64] = {0};
    if (read(0, in, 4) != 4) return 1;
    if (in[0] >= 64 || in[1] >= 64) return 2;
    array[in[0]] = 7;
    array[in[1]] += 3;
    if (class[in[3] & 7] != 9 && in[3] < 100) return 3;
    if (class[in[3] & 7] == 9 && in[3] > 101) return 4;
    if (array[in[2] & 63] == 10 && in[0] == 33 && in[2] > 200) target();
    return 0;
}
