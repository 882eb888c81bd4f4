// Keeps what instructions leave undefined: in flags that are pushed, in R11 behind a system call, in ways that are taken, across
// returns. What is kept differs from processor to processor; a replay must have what the recording had.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>

#define ROUNDS 400
static volatile uint64_t kept[ROUNDS][12];

// Leave flags undefined, and return.
__attribute__((noinline, naked)) static uint64_t product(uint64_t a, uint64_t b) {
    __asm__("mov %rdi, %rax\n imul %rsi, %rax\n ret");
}
__attribute__((noinline, naked)) static uint64_t shifted(uint64_t a) {
    __asm__("mov %rdi, %rax\n shl $5, %rax\n ret");
}
__attribute__((noinline, naked)) static uint64_t scanned(uint64_t a) {
    __asm__("bsf %rdi, %rax\n ret");
}

// What their callers see of it.
#define FLAGS_AFTER(call) ({ call; uint64_t flags; __asm__ volatile("pushf\n pop %0" : "=r"(flags)); flags; })

static uint64_t after_call(uint64_t a) {
    uint64_t r11, result = SYS_getppid;
    __asm__ volatile("imul %2, %2\n syscall\n mov %%r11, %1" : "+a"(result), "=r"(r11), "+r"(a) : : "rcx", "r11", "memory");
    return r11;
}

static uint64_t way(uint64_t a) {
    uint64_t taken = 0;
    __asm__ volatile("imul %1, %1\n jp 1f\n add $1, %0\n 1: shl $3, %1\n jno 2f\n add $2, %0\n"
                     " 2: bt $7, %1\n js 3f\n add $4, %0\n 3:" : "+r"(taken), "+r"(a) : : "cc");
    return taken;
}

int main(void) {
    uint64_t a = 0x9e3779b97f4a7c15;
    for (int i = 0; i < ROUNDS; i++) {
        a = a * 6364136223846793005 + 1442695040888963407;
        uint64_t flags;
        kept[i][0] = FLAGS_AFTER(product(a, a >> 7));
        kept[i][1] = FLAGS_AFTER(shifted(a));
        kept[i][2] = FLAGS_AFTER(scanned(a >> (a & 63)));
        kept[i][3] = after_call(a);
        kept[i][4] = way(a);
        __asm__ volatile("mul %%rdx\n pushf\n pop %0" : "=r"(flags) : "a"(a), "d"(a >> 3) : "cc");
        kept[i][5] = flags;
        __asm__ volatile("xor %%edx, %%edx\n div %2\n pushf\n pop %0" : "=&r"(flags), "+a"(a) : "r"((uint64_t)i + 3) : "rdx", "cc");
        kept[i][6] = flags;
        uint8_t high;
        __asm__ volatile("rol $9, %1\n lahf\n mov %%ah, %0\n seto %%al" : "=&q"(high), "+r"(a) : : "rax", "cc");
        kept[i][7] = high;
        __asm__ volatile("shld $9, %1, %1\n pushf\n pop %0" : "=&r"(flags), "+r"(a) : : "cc");
        kept[i][8] = flags;
        __asm__ volatile("btc $3, %1\n pushf\n pop %0" : "=&r"(flags), "+r"(a) : : "cc");
        kept[i][9] = flags;
        __asm__ volatile("sarb $5, %b1\n adc $0, %1\n pushf\n pop %0" : "=&r"(flags), "+q"(a) : : "cc");
        kept[i][10] = flags;
        __asm__ volatile("and $15, %1\n pushf\n pop %0" : "=&r"(flags), "+r"(a) : : "cc");
        kept[i][11] = flags;
        a += kept[i][4] + i;
    }
    printf("%d rounds\n", ROUNDS);
    return 0;
}
