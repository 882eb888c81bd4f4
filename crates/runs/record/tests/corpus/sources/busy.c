// Asks the kernel for ever.
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
int main(void) {
    char bytes[512];
    unsigned long sum = 0;
    for (;;) {
        getrandom(bytes, sizeof bytes, 0);
        for (int i = 0; i < 512; i++) sum = sum * 31 + bytes[i];
        sum += time(NULL);
    }
}
