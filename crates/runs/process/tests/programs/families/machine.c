// What the processor does: flags, exceptions, floats, odd instructions, seen through signals.
#include "family.h"
#include <fenv.h>
#include <cpuid.h>
#include <ucontext.h>
#include <xmmintrin.h>
static sigjmp_buf back;
static volatile int last, code;
static void leap(int signal, siginfo_t *info, void *context) {
    (void)context;
    last = signal, code = info->si_code;
    siglongjmp(back, 1);
}

PROGRAM(segments) {
    unsigned short ds, cs;
    __asm__ volatile("mov %%ds, %0\n mov %%cs, %1" : "=r"(ds), "=r"(cs));
    printf("%x %x\n", ds, cs);
}
PROGRAM(flags) {
    unsigned long flags;
    __asm__ volatile("stc\n pushf\n pop %0" : "=r"(flags)::"cc");
    printf("%lx", flags & 1);
    __asm__ volatile("push $0x246\n popf\n pushf\n pop %0" : "=r"(flags)::"cc");
    printf(" %lx", flags & 0x3fffff);
    __asm__ volatile("pushf\n orq $0x200000, (%%rsp)\n popf\n pushf\n pop %0\n push $0x202\n popf" : "=r"(flags)::"cc");
    printf(" %lx\n", flags >> 21 & 1);
}
PROGRAM(rounding) {
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    volatile double one = 1, three = 3;
    volatile long double long_one = 1, long_three = 3;
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        printf("%a %La %a ", one / three, long_one / long_three, -one / three);
    }
    fesetround(FE_TONEAREST);
    printf("\n");
}
PROGRAM(exceptions_of_floats) {
    volatile double zero = 0, one = 1, huge = 1e308;
    feclearexcept(FE_ALL_EXCEPT);
    volatile double got = one / zero;
    printf("%x", fetestexcept(FE_ALL_EXCEPT));
    feclearexcept(FE_ALL_EXCEPT);
    got = huge * huge;
    printf(" %x", fetestexcept(FE_ALL_EXCEPT));
    feclearexcept(FE_ALL_EXCEPT);
    got = zero / zero;
    printf(" %x", fetestexcept(FE_ALL_EXCEPT));
    handle(SIGFPE, leap, 0);
    feenableexcept(FE_DIVBYZERO);
    if (!sigsetjmp(back, 1)) got = one / zero;
    printf(" %d %d\n", last, code);
}
PROGRAM(small_numbers) {
    volatile double least = 4.9e-324, two = 2, small = 2.3e-308;
    printf("%a %a", least / two, small / two);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    printf(" %a %a %x\n", least * two, small / two, _mm_getcsr() & 0x8040);
}
PROGRAM(wide_exchange) {
    unsigned __int128 place __attribute__((aligned(16))) = 5;
    unsigned char equal;
    unsigned long low = 5, high = 0;
    __asm__ volatile("lock cmpxchg16b %0\n sete %1" : "+m"(place), "=r"(equal), "+a"(low), "+d"(high) : "b"(7l), "c"(9l));
    printf("%d %lu %lu", equal, (unsigned long)place, (unsigned long)(place >> 64));
    low = 1;
    __asm__ volatile("lock cmpxchg16b %0\n sete %1" : "+m"(place), "=r"(equal), "+a"(low), "+d"(high) : "b"(7l), "c"(9l));
    printf(" %d %lu %lu\n", equal, low, high);
}
PROGRAM(unaligned) {
    char room[64] = {0};
    handle(SIGSEGV, leap, 0);
    __sync_fetch_and_add((int *)(room + 3), 5);
    printf("%d", room[3]);
    if (!sigsetjmp(back, 1)) __asm__ volatile("movaps %0, %%xmm0" : : "m"(*(room + 1)) : "xmm0");
    printf(" %d %d\n", last, code);
}
static volatile unsigned long left, to;
static void stop(int signal, siginfo_t *info, void *context) {
    ucontext_t *frame = context;
    left = frame->uc_mcontext.gregs[REG_RCX];
    to = frame->uc_mcontext.gregs[REG_RDI] - (unsigned long)info->si_addr;
    siglongjmp(back, 1);
}
PROGRAM(repeated) {
    char *at = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at + 4096, 4096, PROT_READ);
    handle(SIGSEGV, stop, 0);
    if (!sigsetjmp(back, 1)) __asm__ volatile("rep stosb" : : "D"(at + 4000), "c"(500), "a"(7) : "memory");
    printf("%lu %ld %d %d", left, (long)to, at[4095], at[4000]);
    if (!sigsetjmp(back, 1)) __asm__ volatile("std\n rep stosb\n cld" : : "D"(at + 8200), "c"(500), "a"(7) : "memory");
    __asm__ volatile("cld");
    printf(" %lu %ld\n", left, (long)to);
}
static volatile unsigned long flags_there;
static void see_flags(int signal, siginfo_t *info, void *context) {
    unsigned long now;
    __asm__ volatile("pushf\n pop %0" : "=r"(now));
    flags_there = now & 0x400;
    last = (((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] & 0x400) != 0;
}
PROGRAM(direction_in_handlers) {
    handle(SIGUSR1, see_flags, 0);
    int self = getpid(), result;
    __asm__ volatile("std\n syscall\n cld" : "=a"(result) : "a"(SYS_kill), "D"(self), "S"(SIGUSR1) : "rcx", "r11", "memory");
    printf("%lu %d\n", flags_there, last);
}
PROGRAM(old_floats) {
    double value = 2, root, sine;
    unsigned short control;
    __asm__ volatile("fldl %1\n fsqrt\n fstpl %0" : "=m"(root) : "m"(value));
    __asm__ volatile("fldpi\n fld1\n fscale\n fstp %%st(1)\n fstpl %0" : "=m"(sine));
    __asm__ volatile("fnstcw %0" : "=m"(control));
    printf("%a %a %x", root, sine, control);
    char saved[108];
    __asm__ volatile("fnsave %0\n frstor %0" : "=m"(*saved));
    printf(" %x %x\n", *(unsigned short *)saved, *(unsigned short *)(saved + 8));
}
PROGRAM(bases) {
    unsigned long fs = 0, gs = 7;
    printf("%s", error(syscall(SYS_arch_prctl, 0x1003, &fs)));
    printf(" %d", fs == (unsigned long)pthread_self());
    printf(" %s", error(syscall(SYS_arch_prctl, 0x1001, 0x1234500)));
    printf(" %s", error(syscall(SYS_arch_prctl, 0x1004, &gs)));
    printf(" %lx", gs);
    printf(" %s %s\n", error(syscall(SYS_arch_prctl, 0x1001, 1l << 60)), error(syscall(SYS_arch_prctl, 99, 0)));
}
