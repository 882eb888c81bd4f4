// Reaches for what a native replay has in its process: stores into translated code, jumps to it and behind it, a system call
// inside another instruction. Each is a fault, or the call that the recording answers.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char _start[];
static sigjmp_buf back;
static volatile int code;

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    code = info->si_code;
    siglongjmp(back, 1);
}

static int tried(uintptr_t at, int calls) {
    code = -1;
    if (sigsetjmp(back, 1) == 0) {
        if (calls) ((void (*)(void))at)();
        else *(volatile uint64_t *)at = 0x050f050f050f050f;
        code = -2;
    }
    return code == SEGV_MAPERR || code == SEGV_ACCERR;
}

int main(void) {
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, 0);
    // Both parts of the code lie a GiB from the program, on either side.
    uintptr_t page = (uintptr_t)_start & ~4095ul;
    const uintptr_t starts[] = {page - (1ul << 30), page - (1ul << 30) + (64ul << 20), page + (1ul << 30), page + (1ul << 30) + (64ul << 20)};
    int faults = 0, all = 0;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned offset = 0; offset < 4096; offset += 256) {
            faults += tried(starts[i] + offset, 0) + tried(starts[i] + offset + 1, 1);
            all += 2;
        }
    }
    // Where the low half of an address is that of code that is translated.
    for (unsigned high = 1; high < 64; high++) {
        faults += tried((uintptr_t)&tried ^ (uintptr_t)high << 32, 1);
        all++;
    }
    printf("%d of %d are faults\n", faults, all);
    // `mov $0xc3050f, %ecx`, entered in its middle: `syscall; ret`.
    long result = SYS_getpid;
    __asm__ volatile("call 1f + 1\n jmp 2f\n 1: .byte 0xb9, 0x0f, 0x05, 0xc3, 0x00\n 2:" : "+a"(result) : : "rcx", "r11", "memory");
    printf("the number is %s\n", result == getpid() ? "ours" : "another");
    return 0;
}
