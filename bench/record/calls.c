// Nine thousand instructions a round, and in each round one call of one function: a hundred million by default. The words called
// quiet are never written, but lie on pages that are written all the time.
#include <stdio.h>
#include <stdlib.h>

struct part {
    unsigned long quiet, table[511];
};
struct part parts[3];

__attribute__((noinline)) unsigned long rare(unsigned long value) { return value * 31 + 7; }

__attribute__((noinline)) void done(unsigned long sum) { printf("%lu\n", sum); }

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 10000;
    unsigned long sum = 1;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 1000; i++) {
            struct part *part = &parts[i % 3];
            part->table[(sum >> 7) & 255] += i;
            sum = sum * 6364136223846793005UL + part->table[256 + (i & 127)];
        }
        sum = rare(sum);
    }
    done(sum);
    return 0;
}
