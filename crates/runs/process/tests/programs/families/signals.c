// Signals: who gets them, with what, and what they interrupt.
#include "family.h"
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/signalfd.h>
#include <ucontext.h>
static volatile int count, last, code, value;
static void note(int signal, siginfo_t *info, void *context) {
    (void)context;
    count++, last = signal, code = info->si_code, value = info->si_value.sival_int;
}
static sigjmp_buf back;
static void leap(int signal, siginfo_t *info, void *context) {
    (void)context;
    last = signal, code = info->si_code;
    siglongjmp(back, 1);
}

PROGRAM(nested) {
    handle(SIGUSR1, note, SA_NODEFER);
    raise(SIGUSR1), raise(SIGUSR1);
    printf("%d", count);
    struct sigaction action = {0};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaction(SIGUSR2, &action, 0);
    raise(SIGUSR2);
    sigaction(SIGUSR2, 0, &action);
    printf(" %d %d\n", count, action.sa_handler == SIG_DFL);
}
PROGRAM(order) {
    for (int i = 0; i < 4; i++) handle(SIGRTMIN + i, note, 0), block(SIG_BLOCK, SIGRTMIN + i);
    handle(SIGUSR1, note, 0), block(SIG_BLOCK, SIGUSR1);
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 1});
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 2});
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 3});
    raise(SIGUSR1);
    sigset_t all;
    sigfillset(&all);
    siginfo_t info;
    for (int i = 0; i < 4; i++) {
        int taken = sigwaitinfo(&all, &info);
        printf("%d %d %d,", taken == SIGUSR1 ? -1 : taken - SIGRTMIN, info.si_code, taken == SIGUSR1 ? 0 : info.si_value.sival_int);
    }
    printf(" %s\n", error(sigtimedwait(&all, &info, &(struct timespec){0, 1000})));
}
PROGRAM(by_descriptor) {
    block(SIG_BLOCK, SIGUSR1), block(SIG_BLOCK, SIGRTMIN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1), sigaddset(&set, SIGRTMIN);
    int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    struct signalfd_siginfo info;
    printf("%s", error(read(file, &info, sizeof info)));
    kill(getpid(), SIGUSR1);
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 77});
    struct pollfd ready = {file, POLLIN, 0};
    printf(" %d", poll(&ready, 1, 1000));
    for (int i = 0; i < 2; i++) {
        long got = read(file, &info, sizeof info);
        printf(" %ld %d %d %d %d", got, info.ssi_signo == SIGUSR1, info.ssi_code, info.ssi_int, info.ssi_pid == (unsigned)getpid());
    }
    printf(" %s\n", error(read(file, &info, sizeof info)));
}
PROGRAM(of_children) {
    handle(SIGCHLD, note, SA_RESTART);
    int statuses[3];
    for (int way = 0; way < 3; way++) {
        count = 0;
        fflush(stdout);
        // A child that has ended is told as that, and no longer as continued: it waits until it was.
        int hold[2];
        char byte;
        if (pipe(hold)) return;
        int number = fork();
        if (number == 0) {
            close(hold[1]);
            if (way == 1) raise(SIGKILL);
            if (way == 2) {
                raise(SIGSTOP);
                while (read(hold[0], &byte, 1) < 0) {}
            }
            _exit(5);
        }
        close(hold[0]);
        while (!count) pause_for(1);
        printf("%d ", code);
        waitpid(number, &statuses[way], WUNTRACED);
        if (way == 2) {
            printf("%d %d ", WIFSTOPPED(statuses[2]), WSTOPSIG(statuses[2]));
            kill(number, SIGCONT);
            waitpid(number, &statuses[way], WCONTINUED);
            printf("%d ", WIFCONTINUED(statuses[2]));
            close(hold[1]);
            waitpid(number, &statuses[way], 0);
        } else {
            close(hold[1]);
        }
        printf("%d, ", ended(statuses[way]));
    }
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    action.sa_flags = SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, 0);
    if (fork() == 0) _exit(0);
    printf("%s\n", error(wait(0)));
}
static void poke(int milliseconds) {
    struct itimerval timer = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, 0);
}
static void quiet(void) {
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &none, 0);
}
PROGRAM(interrupted) {
    handle(SIGALRM, note, 0);
    int ends[2];
    pipe(ends);
    char bytes[64];
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    int queue = msgget(IPC_PRIVATE, 0600), poll_file = epoll_create1(0), server = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {AF_UNIX, ""};
    bind(server, (void *)&address, 2);
    listen(server, 1);
    struct epoll_event event;
    struct pollfd none = {ends[0], POLLIN, 0};
    sigset_t empty;
    sigemptyset(&empty);
    int stay = fork();
    if (stay == 0) for (;;) pause();
    poke(20);
    printf("read %s", error(read(ends[0], bytes, 1)));
    printf(", sem %s", error(sem_wait(&semaphore)));
    printf(", msgrcv %s", error(msgrcv(queue, bytes, 8, 0, 0)));
    printf(", epoll %s", error(epoll_wait(poll_file, &event, 1, -1)));
    printf(", accept %s", error(accept(server, 0, 0)));
    printf(", poll %s", error(poll(&none, 1, -1)));
    printf(", wait %s", error(wait(0)));
    printf(", suspend %s", error(sigsuspend(&empty)));
    printf(", pause %s\n", error(pause()));
    quiet();
    kill(stay, SIGKILL);
    wait(0);
    msgctl(queue, IPC_RMID, 0);
}
PROGRAM(restarted) {
    handle(SIGALRM, note, SA_RESTART);
    int ends[2];
    pipe(ends);
    char bytes[64];
    struct pollfd none = {ends[0], POLLIN, 0};
    poke(10);
    fflush(stdout);
    int number = fork();
    if (number == 0) {
        pause_for(100);
        write(ends[1], "later", 5);
        pause_for(60);
        _exit(4);
    }
    printf("%zd", read(ends[0], bytes, 64));
    int status;
    printf(" %s", error(poll(&none, 1, -1)));
    printf(" %d", waitpid(number, &status, 0) == number);
    quiet();
    printf(" %d %d\n", ended(status), count > 3);
}
PROGRAM(arithmetic) {
    handle(SIGFPE, leap, 0), handle(SIGILL, leap, 0), handle(SIGTRAP, leap, 0);
    volatile int zero = 0, least = INT32_MIN;
    if (!sigsetjmp(back, 1)) zero = 1000 / zero;
    printf("%d %d", last, code);
    if (!sigsetjmp(back, 1)) zero = least / (zero - 1);
    printf(" %d %d", last, code);
    if (!sigsetjmp(back, 1)) __asm__ volatile("ud2");
    printf(" %d %d", last, code);
    if (!sigsetjmp(back, 1)) __asm__ volatile("int3");
    printf(" %d %d\n", last, code);
}
static void repair(int signal, siginfo_t *info, void *context) {
    ucontext_t *frame = context;
    count++;
    code = info->si_code;
    frame->uc_mcontext.gregs[REG_RAX] = 42;
    frame->uc_mcontext.gregs[REG_RIP] += 2;
    frame->uc_mcontext.fpregs->_xmm[3].element[0] = 99;
}
PROGRAM(repaired) {
    handle(SIGSEGV, repair, 0);
    unsigned long got, lane;
    __asm__ volatile("movq %2, %%xmm3\n xor %%ecx, %%ecx\n mov %%rcx, %%rax\n .byte 0x8b, 0x01\n movq %%xmm3, %1" : "=a"(got), "=r"(lane) : "r"(5l) : "rcx", "xmm3", "memory");
    printf("%d %d %lu %lu\n", count, code, got, lane);
}
static void step(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    count++;
}
PROGRAM(single_steps) {
    handle(SIGTRAP, step, 0);
    __asm__ volatile("pushf\n orl $0x100, (%%rsp)\n popf\n nop\n nop\n nop\n pushf\n andl $~0x100, (%%rsp)\n popf" ::: "memory", "cc");
    printf("%d\n", count);
}
PROGRAM(masks_in_handlers) {
    struct sigaction action = {0};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO;
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, 0);
    handle(SIGUSR2, note, 0);
    sigset_t now;
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, 0, &now);
    printf("%d %d %d\n", count, sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));
}
PROGRAM(groups) {
    handle(SIGUSR1, note, 0);
    setpgid(0, 0);
    int ends[2];
    pipe(ends);
    int number = fork();
    if (number == 0) {
        write(ends[1], "r", 1);
        while (!count) pause_for(1);
        _exit(count + 10);
    }
    char byte;
    read(ends[0], &byte, 1);
    printf("%s", error(kill(0, SIGUSR1)));
    int status;
    while (waitpid(number, &status, 0) < 0) {}
    printf(" %d %d %s %s\n", count, ended(status), error(kill(-1 << 29, 0)), error(kill(getpid(), 0)));
}
PROGRAM(by_pidfd) {
    handle(SIGUSR1, note, 0);
    int own = syscall(SYS_pidfd_open, getpid(), 0);
    printf("%s %d", error(syscall(SYS_pidfd_send_signal, own, SIGUSR1, 0, 0)), count);
    int number = fork();
    if (number == 0) for (;;) pause();
    int other = syscall(SYS_pidfd_open, number, 0);
    printf(" %s", error(syscall(SYS_pidfd_send_signal, other, SIGTERM, 0, 0)));
    int status;
    waitpid(number, &status, 0);
    printf(" %d %s\n", ended(status), error(syscall(SYS_pidfd_send_signal, other, SIGTERM, 0, 0)));
}
PROGRAM(virtual_timers) {
    handle(SIGVTALRM, note, 0), handle(SIGPROF, note, 0);
    struct itimerval timer = {{0, 0}, {0, 5000}};
    setitimer(ITIMER_VIRTUAL, &timer, 0);
    while (!count) {}
    printf("%d", last);
    setitimer(ITIMER_PROF, &timer, 0);
    while (count < 2) {}
    getitimer(ITIMER_PROF, &timer);
    printf(" %d %ld\n", last, timer.it_value.tv_usec);
}
static void *sleeper(void *unused) {
    pause();
    return (void *)(long)(last + 1000);
}
PROGRAM(of_threads) {
    handle(SIGUSR1, note, 0);
    block(SIG_BLOCK, SIGUSR1);
    pthread_t thread;
    pthread_create(&thread, 0, sleeper, 0);
    sigset_t pending;
    pthread_kill(pthread_self(), SIGUSR1);
    sigpending(&pending);
    printf("%d %d", sigismember(&pending, SIGUSR1), count);
    block(SIG_UNBLOCK, SIGUSR1);
    printf(" %d", count);
    pthread_cancel(thread);
    void *result;
    pthread_join(thread, &result);
    printf(" %d %d\n", result == PTHREAD_CANCELED, pthread_kill(pthread_self(), 99));
}
PROGRAM(aborted) {
    handle(SIGABRT, note, 0);
    printf("%d\n", child(abort));
}
PROGRAM(at_once) {
    // Each child is told before it has done anything.
    for (int i = 0; i < 30; i++) {
        int status, number = fork();
        if (number == 0) for (;;) pause();
        kill(number, i % 2 ? SIGTERM : SIGUSR1);
        waitpid(number, &status, 0);
        printf("%d ", ended(status));
    }
    printf("\n");
}
