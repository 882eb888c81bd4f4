// Numbers sorted by the C library, with a comparison through a pointer.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(void) {
    enum { COUNT = 6000000 };
    uint32_t *numbers = malloc(COUNT * sizeof *numbers), state = 7;
    if (!numbers) return 1;
    for (int i = 0; i < COUNT; i++) numbers[i] = state = state * 1664525u + 1013904223u;
    qsort(numbers, COUNT, sizeof *numbers, compare);
    printf("%u %u\n", numbers[0], numbers[COUNT / 2]);
    free(numbers);
    return 0;
}
