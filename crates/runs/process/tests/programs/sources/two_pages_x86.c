/* An instruction across the end of a page: only its second half is changed. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    unsigned char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* mov eax, imm32; ret: the constant's third byte is the first of the second page. */
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};
    unsigned char *start = pages + 4096 - 3;
    memcpy(start, code, sizeof code);
    int (*function)(void) = (int (*)(void))start;
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        start[3] = i;
        sum += function() >> 16;
    }
    printf("%d\n", sum);
    return 0;
}
