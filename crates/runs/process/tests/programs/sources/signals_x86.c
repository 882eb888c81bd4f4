/* Signals to oneself: what handlers are told, what they may change, and how they nest. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int cell;

static long long reg(void *context, int number) { return ((ucontext_t *)context)->uc_mcontext.gregs[number]; }

static void divide(int signal, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d code %d at the instruction %d\n", signal, info->si_code, info->si_addr == (void *)registers[REG_RIP]);
    registers[REG_RIP] += 2;
    registers[REG_RAX] = 77;
}

static void illegal(int signal, siginfo_t *info, void *context) {
    printf("signal %d code %d trap %lld\n", signal, info->si_code, reg(context, REG_TRAPNO));
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void fault(int signal, siginfo_t *info, void *context) {
    printf("signal %d code %d address %p error %llx trap %lld cr2 %llx\n", signal, info->si_code, info->si_addr,
           (unsigned long long)reg(context, REG_ERR), reg(context, REG_TRAPNO), (unsigned long long)reg(context, REG_CR2));
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RBX] = (long)&cell;
}

static void value(int signal, siginfo_t *info, void *context) {
    (void)context;
    printf("signal %d code %d from us %d value %d\n", signal, info->si_code, info->si_pid == getpid(), info->si_value.sival_int);
}

static void child_ended(int signal, siginfo_t *info, void *context) {
    (void)context;
    printf("signal %d code %d status %d\n", signal, info->si_code, info->si_status);
}

static void nested(int signal) {
    printf("in %d\n", signal);
    if (signal == SIGUSR1) raise(SIGUSR2);
    printf("out %d\n", signal);
}

static void on_stack(int signal, siginfo_t *info, void *context) {
    (void)info, (void)context;
    char here;
    stack_t stack;
    sigaltstack(NULL, &stack);
    char *start = stack.ss_sp;
    printf("signal %d flags %d inside %d\n", signal, stack.ss_flags, &here > start && &here < start + stack.ss_size);
}

static void overflow(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    write(1, "overflow\n", 9);
    _exit(5);
}

static int recurse(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return recurse(depth + 1) + room[0];
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(signal, &action, NULL);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    handle(SIGFPE, divide, 0);
    handle(SIGILL, illegal, 0);
    handle(SIGSEGV, fault, 0);
    handle(SIGTRAP, value, 0);
    unsigned long result;
    __asm__ volatile("xor %%edx, %%edx; mov $5, %%eax; xor %%ecx, %%ecx; div %%ecx; mov %%rax, %0"
                     : "=r"(result)::"rax", "rdx", "rcx");
    printf("result %lu\n", result);
    __asm__ volatile("ud2");
    __asm__ volatile("mov $0x10, %%rbx; movl $9, (%%rbx)" ::: "rbx", "memory");
    printf("cell %d\n", cell);
    __asm__ volatile("mov $0x10, %%rbx; movl (%%rbx), %%eax" ::: "rbx", "rax", "memory");
    __asm__ volatile("mov $0x8000000000000000, %%rbx; movl (%%rbx), %%eax" ::: "rbx", "rax", "memory");
    raise(SIGTRAP);

    handle(SIGUSR1, value, 0);
    handle(SIGRTMIN + 1, value, 0);
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42});
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 3; i++) sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
    raise(SIGUSR1), raise(SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &set, NULL);

    handle(SIGCHLD, child_ended, 0);
    int status;
    for (int round = 0; round < 2; round++) {
        pid_t child = fork();
        if (child == 0) {
            if (round) raise(SIGKILL);
            _exit(3);
        }
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        printf("status %x\n", status);
    }

    struct sigaction plain = {.sa_handler = nested};
    sigaction(SIGUSR1, &plain, NULL);
    sigaction(SIGUSR2, &plain, NULL);
    raise(SIGUSR1);
    sigaddset(&plain.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &plain, NULL);
    raise(SIGUSR1);
    plain.sa_flags = SA_RESETHAND;
    sigaction(SIGUSR2, &plain, NULL);
    raise(SIGUSR2);
    sigaction(SIGUSR2, NULL, &plain);
    printf("reset %d\n", plain.sa_handler == SIG_DFL);

    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    handle(SIGUSR1, on_stack, SA_ONSTACK);
    raise(SIGUSR1);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    siginfo_t info;
    printf("waited for %d\n", sigwaitinfo(&set, &info));
    sigpending(&set);
    printf("pending %d\n", sigismember(&set, SIGUSR2));
    handle(SIGSEGV, overflow, SA_ONSTACK);
    return recurse(0);
}
