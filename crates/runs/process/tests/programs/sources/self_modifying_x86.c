/* Code that is written, run, changed and run again. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* mov eax, imm32; ret */
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};
    int (*function)(void) = (int (*)(void))page;
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        memcpy(page, code, sizeof code);
        memcpy(page + 1, &i, sizeof i);
        sum += function();
    }
    printf("%d\n", sum);
    return 0;
}
