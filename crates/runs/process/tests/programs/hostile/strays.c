// Accesses of places that are not the program's, given as arguments: each is a fault that says so. Then code that is entered in
// the middle of an instruction, and a stack that is unmapped while it is used.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int code;
static volatile uintptr_t where;

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    code = info->si_code;
    where = (uintptr_t)info->si_addr;
    siglongjmp(back, 1);
}

int main(int count, char **texts) {
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    for (int i = 1; i < count; i++) {
        uintptr_t at = strtoul(texts[i], 0, 16);
        for (int kind = 0; kind < 3; kind++) {
            code = -1, where = 0;
            if (sigsetjmp(back, 1) == 0) {
                if (kind == 0) (void)*(volatile char *)at;
                if (kind == 1) *(volatile char *)at = 1;
                if (kind == 2) ((void (*)(void))at)();
                code = -2;
            }
            const char *names[] = {"read", "write", "call"};
            printf("%d: %s: %s, %s\n", i, names[kind], code == SEGV_MAPERR ? "not mapped" : "otherwise",
                   where == at ? "there" : "elsewhere");
        }
    }
    fflush(stdout);

    int ebx = 7;
    // What is entered reads `inc ebx; ret`.
    __asm__ volatile("call 1f + 1\n jmp 2f\n 1: .byte 0xb8, 0xff, 0xc3, 0xc3, 0x90\n 2:" : "+b"(ebx) : : "eax", "cc", "memory");
    printf("middle: %d\n", ebx);
    fflush(stdout);

    if (fork() == 0) {
        char *stack = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        // munmap(stack, 4096), and then its result is pushed.
        __asm__ volatile("mov %0, %%rsp\n push %%rax\n syscall\n push %%rax" : : "r"(stack + 4000), "a"(11), "D"(stack), "S"(4096));
        _exit(5);
    }
    int status = 0;
    wait(&status);
    printf("without a stack: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    return 0;
}
