// Input for the six programs: bytes of standard input, as numbers; and counters that keep branches branches at -O2.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
static unsigned char input[16];
static volatile int large, high;
static inline void fill(unsigned count) {
    if (read(0, input, count) != (ssize_t)count) _exit(3);
}
