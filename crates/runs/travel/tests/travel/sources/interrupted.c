// Calls that signals interrupt, in several threads: some are made again, some fail; waits for signals; faults that a
// handler gets the program out of.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled, faults;
static sigjmp_buf back;
static int channel[2];
static volatile int ready, done;

static void handler(int number) { handled += number != 0; }

static void fault(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    faults++;
    siglongjmp(back, 1);
}

static void *reader(void *argument) {
    char byte;
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    long got = read(channel[0], &byte, 1);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return (void *)(got == 1 ? 1L : argument != 0 && errno == EINTR ? 2L : 3L);
}

static void *sleeper(void *argument) {
    (void)argument;
    struct timespec long_time = {100, 0};
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    int result = nanosleep(&long_time, NULL);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return (void *)(long)(result == -1 && errno == EINTR);
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = fault;
    sigaction(SIGSEGV, &action, NULL);
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) page[i] = 1;
    }
    pipe(channel);
    pthread_t first, second;
    void *one, *two;
    pthread_create(&first, NULL, reader, (void *)1);
    pthread_create(&second, NULL, sleeper, NULL);
    while (ready < 2) usleep(1000);
    usleep(20000);
    pthread_kill(first, SIGUSR2);
    usleep(20000);
    pthread_kill(second, SIGUSR1);
    pthread_kill(first, SIGUSR1);
    pthread_join(first, &one);
    pthread_join(second, &two);
    sigset_t block, old;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &old);
    raise(SIGUSR1);
    sigsuspend(&old);
    raise(SIGUSR1);
    struct pollfd none = {channel[0], POLLIN, 0};
    struct timespec soon = {5, 0};
    int polled = ppoll(&none, 1, &soon, &old);
    printf("%ld %ld %d %d %d\n", (long)one, (long)two, (int)faults, (int)handled, polled);
    return 0;
}
