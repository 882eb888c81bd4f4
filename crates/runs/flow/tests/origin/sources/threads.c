// Values that go from thread to thread: by memory, and in the registers a thread starts with.
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

char input[16];
uint64_t by_memory, by_register, summed;
volatile int done;
static char stack[65536] __attribute__((aligned(16)));

static void *work(void *argument) {
    uint64_t sum = 0;
    for (int round = 0; round < 3000; round++) sum += round & 1 ? 0 : *(uint32_t *)(input + 8);
    summed = sum;
    by_memory = *(uint64_t *)argument;
    return 0;
}

int main(void) {
    if (read(0, input, 16) != 16) return 1;
    uint64_t passed;
    memcpy(&passed, input, 8);
    pthread_t thread;
    pthread_create(&thread, 0, work, &passed);
    for (volatile int wait = 0; wait < 20000; wait++) {}
    pthread_join(thread, 0);
    // clone(VM | FS | FILES | SIGHAND | THREAD | SYSVSEM): the new thread finds our r12.
    asm volatile("mov input(%%rip), %%r12\n mov $56, %%eax\n mov $0x50f00, %%edi\n mov %0, %%rsi\n xor %%edx, %%edx\n"
                 "xor %%r10d, %%r10d\n xor %%r8d, %%r8d\n syscall\n test %%rax, %%rax\n jnz 1f\n"
                 "mov %%r12, by_register(%%rip)\n movl $1, done(%%rip)\n mov $60, %%eax\n xor %%edi, %%edi\n syscall\n 1:"
                 : : "r"(stack + sizeof stack) : "rax", "rdi", "rsi", "rdx", "r8", "r10", "rcx", "r11", "r12", "memory");
    while (!done) sched_yield();
    return 0;
}
