/* Every allocator of the C library, each block freed once, but for one of 120 bytes that calloc gave. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    void *zeroed = calloc(10, 20);
    void *lost = calloc(3, 40);
    void *aligned = aligned_alloc(64, 192);
    void *placed = 0;
    if (posix_memalign(&placed, 256, 300))
        return 1;
    void *page = memalign(4096, 5000);
    char *copy = strdup("copied");
    char *grown = realloc(0, 24);
    strcpy(grown, "grows");
    grown = realloc(grown, 100);
    grown = realloc(grown, 400000);
    grown = realloc(grown, 500);
    void *array = reallocarray(0, 7, 11);
    printf("%s %s %d\n", copy, grown, zeroed && lost && aligned && page && array);
    free(zeroed);
    free(aligned);
    free(placed);
    free(page);
    free(copy);
    free(grown);
    free(array);
    array = malloc(32);
    array = realloc(array, 0);
    return array != 0;
}
