// Code that is written through one mapping of a file and run through another, as runtimes do that keep memory either writable or
// executable; through calls on the file; and in two places.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };
// mov eax, NUMBER; ret
static int emit(unsigned char *at, int number) {
    unsigned char code[] = {0xb8, (unsigned char)number, (unsigned char)(number >> 8), 0, 0, 0xc3};
    memcpy(at, code, sizeof code);
    return (int)sizeof code;
}
static int run(void *at) { return ((int (*)(void))at)(); }

int main(void) {
    int f = memfd_create("code", 0);
    ftruncate(f, 4 * PAGE);
    unsigned char *write_here = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    unsigned char *run_here = mmap(0, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, f, 0);
    unsigned char *shifted = mmap(0, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, f, PAGE);
    unsigned char *own = mmap(0, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, PAGE);
    long sum = 0;
    for (int round = 0; round < 300; round++) {
        emit(write_here + 100, round);
        emit(write_here + PAGE + 50, round + 1000);
        sum += run(run_here + 100);
        sum += run(run_here + PAGE + 50) * 3;
        sum += run(shifted + 50) * 5;
        sum += run(own + 50) * 7;
    }
    printf("%ld\n", sum);
    // A loop that runs often, so that it is improved, and is then changed.
    unsigned char loop[] = {0x31, 0xc0, 0xb9, 0x10, 0x27, 0, 0, 0x83, 0xc0, 0x01, 0xff, 0xc9, 0x75, 0xf9, 0xc3};
    memcpy(write_here + 2 * PAGE, loop, sizeof loop);
    printf("%d", run(run_here + 2 * PAGE));
    write_here[2 * PAGE + 9] = 3;
    printf(" %d", run(run_here + 2 * PAGE));
    unsigned char five = 5;
#ifndef WITHOUT_CALLS
    pwrite(f, &five, 1, 2 * PAGE + 9);
#endif
    printf(" %d %d\n", run(run_here + 2 * PAGE), run(shifted + PAGE));
    // The two mappings change places.
    mprotect(write_here, 4 * PAGE, PROT_READ | PROT_EXEC);
    mprotect(run_here, 4 * PAGE, PROT_READ | PROT_WRITE);
    emit(run_here + 100, 7);
    printf("%d\n", run(write_here + 100));
    return 0;
}
