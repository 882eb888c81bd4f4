// The processor's counter, read in blocks of different lengths.
#include <stdio.h>
#include <x86intrin.h>
int main(void) {
    unsigned long long last = __rdtsc(), sum = 0;
    int backwards = 0;
    for (int i = 0; i < 1000; i++) {
        unsigned long long now = __rdtsc(), again = __rdtsc();
        backwards += now <= last || again <= now;
        sum = sum * 31 + (again - now);
        last = again;
    }
    printf("%llx\n", sum);
    return backwards != 0;
}
