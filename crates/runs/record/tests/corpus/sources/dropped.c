// A page of a file that is given back, and read again after the file has changed.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    char name[] = "/tmp/parallax-dropped-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    pwrite(file, "old", 4, 0);
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    char first = page[0];
    pwrite(file, "new", 4, 0);
    madvise((void *)page, 4096, MADV_DONTNEED);
    char second = page[0];
    printf("%c %c\n", first, second);
    // A replay that has one of them wrong ends with another status.
    return first - second + 40;
}
