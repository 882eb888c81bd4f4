/* Trap instructions of PowerPC, strings counted by XER, and a status that a handler must not disturb. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

extern char here[];

static void trapped(int signal, siginfo_t *information, void *context)
{
    unsigned long *registers = ((ucontext_t *)context)->uc_mcontext.uc_regs->gregs;
    volatile double third = 1.0 / 3.0;
    printf("signal %d, code %d, at %ld, address %ld, %.17g\n", signal, information->si_code,
           (long)(registers[32] - (unsigned long)here),
           (long)((unsigned long)information->si_addr - (unsigned long)here), third);
    registers[32] = (unsigned long)here + 4;
}

static unsigned long long status(void)
{
    double bits;
    unsigned long long word;
    __asm__ volatile("mffs %0" : "=f"(bits));
    memcpy(&word, &bits, 8);
    return word;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = trapped;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, 0);
    __asm__ volatile("mtfsfi 7, 2");
    printf("%llx\n", status());
    __asm__ volatile(".globl here\nhere: twi 31, 0, 0");
    printf("%llx\n", status() & 0xff);
    __asm__ volatile("mtfsfi 7, 0");
    static char from[] = "counted by a register", to[32];
    for (int count = 0; count < 22; count += 7) {
        memset(to, '.', 31);
        register char *source __asm__("4") = from;
        register char *target __asm__("5") = to;
        __asm__ volatile("mtxer %2\n lswx 6, 0, %0\n stswx 6, 0, %1"
                         : : "r"(source), "r"(target), "r"(count)
                         : "6", "7", "8", "9", "10", "11", "memory", "xer");
        printf("%d %s\n", count, to);
    }
    return 0;
}
