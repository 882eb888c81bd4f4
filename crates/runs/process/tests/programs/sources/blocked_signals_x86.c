// Signals that wait: twice in two queues, for one thread, for a call that takes them, and in great number.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }
static volatile int count, last_code, last_value;
static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    count++;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
}
static void handle(int signal, int flags) {
    struct sigaction action = {0};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, 0);
}
static void block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(how, &set, 0);
}

static sem_t semaphore;
static void post(int signal) { (void)signal, sem_post(&semaphore); }

// How many signals the waiter has told of: what main prints comes after that.
static volatile int told_of;
static void wait_until_told(int count) {
    while (told_of < count) usleep(1000);
}

static void *waiter(void *unused) {
    (void)unused;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN + 3);
    for (int i = 0; i < 3; i++) {
        siginfo_t info;
        int taken = sigwaitinfo(&set, &info);
        printf("taken: %d %d %d\n", taken == SIGUSR2 ? 1 : taken == SIGRTMIN + 3 ? 2 : 0, info.si_code,
               taken == SIGUSR2 ? 0 : info.si_value.sival_int);
        fflush(stdout);
        told_of++;
    }
    return 0;
}

static sigjmp_buf back;
static volatile unsigned long where;
static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    where = (unsigned long)info->si_addr;
    siglongjmp(back, 1);
}

int main(void) {
    setvbuf(stdout, 0, _IOLBF, 0);
    handle(SIGUSR1, 0);
    block(SIG_BLOCK, SIGUSR1);
    kill(getpid(), SIGUSR1);
    raise(SIGUSR1);
    raise(SIGUSR1);
    block(SIG_UNBLOCK, SIGUSR1);
    printf("both queues: %d\n", count);

    count = 0;
    int first = SIGRTMIN + 1, second = SIGRTMIN + 2;
    handle(first, 0), handle(second, 0);
    block(SIG_BLOCK, first), block(SIG_BLOCK, second);
    for (int i = 0; i < 1200; i++) sigqueue(getpid(), i % 2 ? first : second, (union sigval){.sival_int = i});
    block(SIG_UNBLOCK, first), block(SIG_UNBLOCK, second);
    printf("many: %d\n", count);

    struct sigaction action = {0}, told;
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK;
    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGUSR1, &action, 0);
    raise(SIGUSR1);
    sigaction(SIGUSR1, 0, &told);
    printf("reset: %d %x %d\n", told.sa_handler == SIG_DFL, told.sa_flags & ~0x4000000, sigismember(&told.sa_mask, SIGHUP));

    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_flags = (int)(1u << 31), .ss_size = sizeof stack}, now;
    printf("disarm: %s", error(sigaltstack(&alternate, 0)));
    handle(SIGUSR1, SA_ONSTACK);
    raise(SIGUSR1);
    sigaltstack(0, &now);
    printf(" %d %x", now.ss_sp == stack, (unsigned)now.ss_flags);
    alternate.ss_flags = 77;
    printf(" %s\n", error(sigaltstack(&alternate, 0)));

    sem_init(&semaphore, 0, 0);
    for (int again = 0; again < 2; again++) {
        memset(&action, 0, sizeof action);
        action.sa_handler = post;
        action.sa_flags = again ? SA_RESTART : 0;
        sigaction(SIGALRM, &action, 0);
        struct itimerval timer = {{0, 0}, {0, 30000}};
        setitimer(ITIMER_REAL, &timer, 0);
        printf("semaphore: %s\n", error(sem_wait(&semaphore)));
        if (!again) sem_wait(&semaphore);
    }

    block(SIG_BLOCK, SIGUSR2), block(SIG_BLOCK, SIGRTMIN + 3);
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    usleep(20000);
    pthread_kill(thread, SIGUSR2);
    wait_until_told(1);
    int queued = pthread_sigqueue(thread, SIGRTMIN + 3, (union sigval){.sival_int = 42});
    wait_until_told(2);
    printf("sigqueue: %d\n", queued);
    kill(getpid(), SIGUSR2);
    pthread_join(thread, 0);

    handle(SIGUSR2, 0);
    block(SIG_UNBLOCK, SIGUSR2);
    count = 0;
    printf("to itself: %d", pthread_sigqueue(pthread_self(), SIGUSR2, (union sigval){.sival_int = 17}));
    printf(" %d %d %d\n", count, last_code, last_value);

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    char *two = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int bad = 1; bad < 4; bad++) {
        mprotect(two, 4096, bad & 1 ? PROT_READ : PROT_READ | PROT_WRITE);
        mprotect(two + 4096, 4096, bad & 2 ? PROT_READ : PROT_READ | PROT_WRITE);
        if (sigsetjmp(back, 1) == 0) *(volatile long *)(two + 4092) = -1;
        printf("across: %ld\n", (long)(where - (unsigned long)two));
    }

    // SIGBUS is also what the host says of files that were cut: sent by somebody, it is a signal like any other.
    handle(SIGBUS, 0);
    count = 0;
    block(SIG_BLOCK, SIGBUS);
    kill(getpid(), SIGBUS);
    sigset_t pending;
    sigpending(&pending);
    printf("bus: %d %d", count, sigismember(&pending, SIGBUS));
    block(SIG_UNBLOCK, SIGBUS);
    printf(" %d\n", count);
    return 0;
}
