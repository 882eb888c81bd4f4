// A table that is too long to be looked at as a whole, with a hole in the middle: one entry behind the hole counts.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
void target(void) { puts("REACHED"); fflush(stdout); _exit(42); }
int main(void) {
    unsigned short at;
    int *table = mmap(0, 4096 * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED || munmap(table + 1024, 2048 * sizeof(int)) != 0) return 1;
    table[3999] = 7;
    if (read(0, &at, sizeof at) != sizeof at) return 2;
    if (table[at & 4095] == 7) target();
    return 0;
}
