// Values that come from here and there, one in each variable.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

char input[64];
int table[256] = {7, 11, 13};
int initialised = 4711;

uint64_t copied, cancelled, subtracted, partial, vectors, stamp;
unsigned char moved, fresh, dropped, filed, argument, drawn;
int picked, image;
uint64_t chosen, swapped;
uint32_t patched;

int main(int count, char **arguments) {
    if (read(0, input, 32) != 32) return 1;

    void *to = &copied, *from = input;
    uint64_t length = 8;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");

    asm volatile("mov input(%%rip), %%rax\n xor %%rax, %%rax\n mov %%rax, cancelled(%%rip)" ::: "rax", "memory");
    asm volatile("mov input(%%rip), %%rax\n sub %%rax, %%rax\n mov %%rax, subtracted(%%rip)" ::: "rax", "memory");
    asm volatile("mov $0x11223344, %%eax\n mov input+3(%%rip), %%al\n mov %%rax, partial(%%rip)" ::: "rax", "memory");
    asm volatile("movq input+8(%%rip), %%xmm0\n movq input+16(%%rip), %%xmm1\n paddb %%xmm1, %%xmm0\n"
                 "movq %%xmm0, vectors(%%rip)" ::: "xmm0", "xmm1", "memory");
    asm volatile("mov input(%%rip), %%rax\n bswap %%rax\n mov %%rax, swapped(%%rip)" ::: "rax", "memory");
    asm volatile("mov input+8(%%rip), %%rax\n mov input+16(%%rip), %%rbx\n cmpb $0, input+24(%%rip)\n"
                 "cmovne %%rbx, %%rax\n mov %%rax, chosen(%%rip)" ::: "rax", "rbx", "memory");
    asm volatile("rdtsc\n mov %%rax, stamp(%%rip)" ::: "rax", "rdx", "memory");

    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    mmap(page + 4096, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    page[5] = input[6];
    char *other = mremap(page, 4096, 1 << 20, MREMAP_MAYMOVE);
    if (other == page) return 2;
    moved = other[5];
    fresh = other[100000];
    other[9000] = 5;
    madvise(other, 1 << 20, MADV_DONTNEED);
    dropped = other[9000];

    int file = open(arguments[0], O_RDONLY);
    char *contents = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    filed = contents[1];
    argument = arguments[0][1];
    picked = table[input[7] & 1];
    image = initialised;
    if (getrandom(&drawn, 1, 0) != 1) return 3;

    // A function that is changed between two calls: it first sets eax, then ebx.
    unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, "\xb8\x01\x00\x00\x00\xc3", 6);
    asm volatile("mov $9, %%ebx\n call *%0\n movb $0xbb, (%0)\n movb $5, 1(%0)\n call *%0\n"
                 "mov %%ebx, patched(%%rip)" : : "r"(code) : "rax", "rbx", "memory");
    return 0;
}
