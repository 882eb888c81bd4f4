// A store into the block that is running: the next instruction is the new one.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // mov byte [rip+1], 7; mov eax, 1; ret: the store changes the constant of the next instruction.
    unsigned char text[] = {0xc6, 0x05, 1, 0, 0, 0, 7, 0xb8, 1, 0, 0, 0, 0xc3};
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        memcpy(code, text, sizeof text);
        sum = sum * 3 % 1000 + ((int (*)(void))code)();
    }
    printf("%d\n", sum);
    return 0;
}
