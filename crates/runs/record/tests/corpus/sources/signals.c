// Handlers between any two instructions, by a timer, by itself, by a fault.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int rang, heard;
static sigjmp_buf back;
static void ring(int unused) { rang++; }
static void hear(int unused) { heard++; }
static void fault(int unused) { siglongjmp(back, 1); }
int main(void) {
    struct sigaction action = {.sa_handler = ring, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    signal(SIGUSR1, hear);
    signal(SIGSEGV, fault);
    struct itimerval timer = {.it_value = {.tv_usec = 3000}, .it_interval = {.tv_usec = 3000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    unsigned long sum = 0;
    while (rang < 5) for (int i = 0; i < 1000; i++) sum = sum * 31 + i;
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 10; i++) raise(SIGUSR1);
    int faults = 0;
    for (int i = 0; i < 3; i++) {
        if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
        else faults++;
    }
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    kill(getpid(), SIGUSR1);
    int before = heard;
    sigsuspend(&old);
    printf("%d %d %d %d\n", rang >= 5, heard, heard - before, faults);
    return 0;
}
