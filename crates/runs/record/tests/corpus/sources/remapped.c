// A file that looks like a program, mapped twice: it changes in between, and each mapping has the bytes that it had then.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    char name[] = "/tmp/parallax-remapped-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    pwrite(file, "\177ELF old", 8, 0);
    volatile char *first = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    char old = first[5];
    pwrite(file, "\177ELF new", 8, 0);
    volatile char *second = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    printf("%c %c\n", old, second[5]);
    // A replay that has one of them wrong ends with another status.
    return old - second[5] + 40;
}
