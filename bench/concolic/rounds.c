/* Rounds of mixing over 1 KiB of standard input: instructions grow with the first argument, and so does the part of them
   that depends on the input. One branch for each round hangs on everything that was read. */
#include <stdlib.h>
#include <unistd.h>

unsigned char in[1024];

__attribute__((noinline)) int mix(long rounds) {
    unsigned hash = 0;
    int odd = 0;
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < 1024; i++) {
            hash = (hash ^ in[i]) * 16777619u;
            in[i] += hash >> 24;
        }
        if ((hash & 7) == 3) {
            odd++;
            in[odd & 1023] ^= 1;
        }
    }
    return odd & 127;
}

int main(int argc, char **argv) {
    long have = 0, got;
    while (have < 1024 && (got = read(0, in + have, 1024 - have)) > 0) have += got;
    return mix(argc > 1 ? atol(argv[1]) : 1);
}
