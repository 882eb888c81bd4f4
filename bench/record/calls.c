// A hundred million instructions, in which one function is called ten thousand times.
#include <stdio.h>

__attribute__((noinline)) unsigned long rare(unsigned long value) { return value * 31 + 7; }

int main(void) {
    unsigned long sum = 1;
    static unsigned long table[4096];
    for (int round = 0; round < 10000; round++) {
        for (int i = 0; i < 1000; i++) {
            table[(sum >> 7) & 4095] += i;
            sum = sum * 6364136223846793005UL + table[i];
        }
        sum = rare(sum);
    }
    printf("%lu\n", sum);
    return 0;
}
