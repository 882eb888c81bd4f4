// One store that begins on one page and ends on the next, at an address that the test knows.
#include <stdint.h>
#include <sys/mman.h>
int main(void) {
    mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    asm volatile("movq $-1, (%0)" : : "r"(0x10000ffcL) : "memory");
    return 0;
}
