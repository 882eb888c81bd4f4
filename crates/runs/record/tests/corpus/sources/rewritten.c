// A file that changes after it was mapped: a page that is touched later is the new one. It looks like a program, which
// is kept as it was when it was mapped.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    char name[] = "/tmp/parallax-rewritten-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    pwrite(file, "\177ELF", 4, 0);
    pwrite(file, "old", 4, 4096);
    volatile char *pages = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, 0);
    char first = pages[1];
    pwrite(file, "new", 4, 4096);
    char second = pages[4096];
    printf("%c %c\n", first, second);
    return second;
}
