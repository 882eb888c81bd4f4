// Limits on memory, children that are made and waited for in other ways, names of threads, and older ways into the kernel.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }
static int deep(int left) {
    volatile char room[65536];
    room[0] = (char)left;
    room[65535] = 1;
    return left ? deep(left - 1) + room[0] : 0;
}
static int died(int status) { return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status); }

static void memory(void) {
    int status;
    fflush(stdout);
    if (fork() == 0) {
        struct rlimit limit = {64 << 20, RLIM_INFINITY};
        setrlimit(RLIMIT_STACK, &limit);
        deep(800);
        _exit(7);
    }
    wait(&status);
    printf("large stack: %d\n", died(status));
    if (fork() == 0) {
        deep(200);
        _exit(7);
    }
    wait(&status);
    printf("usual stack: %d\n", died(status));
    if (fork() == 0) {
        struct rlimit limit = {1 << 30, 1 << 30}, told;
        setrlimit(RLIMIT_AS, &limit);
        getrlimit(RLIMIT_AS, &told);
        void *at = mmap(0, 2u << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        printf("limit: %ld %s", (long)told.rlim_cur >> 20, error(at == MAP_FAILED ? -1 : 0));
        at = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        printf(" %s", error(at == MAP_FAILED ? -1 : 0));
        printf(" %s", error(mremap(at, 1 << 20, 2u << 30, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0));
        printf(" %d\n", malloc(3u << 30) == 0);
        fflush(stdout);
        struct rlimit data = {1 << 20, RLIM_INFINITY};
        setrlimit(RLIMIT_DATA, &data);
        at = mmap(0, 32 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        printf("data: %s", error(at == MAP_FAILED ? -1 : 0));
        limit.rlim_cur = 2, limit.rlim_max = 1;
        printf(" %s\n", error(setrlimit(RLIMIT_AS, &limit)));
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    // A program that starts with a small stack.
    if (fork() == 0) {
        struct rlimit limit = {1 << 20, RLIM_INFINITY};
        setrlimit(RLIMIT_STACK, &limit);
        execl("/proc/self/exe", "limits", "deep", (char *)0);
        _exit(99);
    }
    wait(&status);
    printf("small stack: %d\n", died(status));
}

static void children(void) {
    int status = 77;
    struct rusage usage;
    memset(&usage, 0x55, sizeof usage);
    int ends[2];
    pipe(ends);
    if (fork() == 0) {
        close(ends[1]);
        char byte;
        _exit((int)read(ends[0], &byte, 1) + 3);
    }
    long waited = syscall(SYS_wait4, -1, &status, WNOHANG, &usage);
    printf("not yet: %ld %d %lx\n", waited, status, usage.ru_utime.tv_sec);
    close(ends[1]);
    wait(&status);
    printf("then: %d\n", died(status));
    long child = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0) _exit(5);
    printf("quiet child: %s", error(waitpid((int)child, &status, 0)));
    printf(" %d", waitpid((int)child, &status, __WALL) == child);
    printf(" %d\n", died(status));
    int descriptor = -1;
    child = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &descriptor, 0, 0);
    if (child == 0) _exit(6);
    struct pollfd ready = {descriptor, POLLIN, 0};
    printf("descriptor: %d %d", descriptor > 2, poll(&ready, 1, 5000));
    siginfo_t info;
    printf(" %s", error(waitid((idtype_t)3, (id_t)descriptor, &info, WEXITED)));
    printf(" %d\n", info.si_status);
    printf("none: %s\n", error(wait(&status)));
    printf("flags: %s", error(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0)));
    printf(" %s", error(unshare(0)));
    printf(" %s", error(unshare(CLONE_FILES | CLONE_FS)));
    printf(" %s\n", error(unshare(1)));
}

static void *named(void *unused) {
    (void)unused;
    char name[16];
    prctl(PR_GET_NAME, name);
    printf("inherits %s", name);
    prctl(PR_SET_NAME, "another");
    prctl(PR_GET_NAME, name);
    printf(", has %s", name);
    return 0;
}

static void threads(void) {
    char name[16];
    prctl(PR_SET_NAME, "the-first-thread-of-all");
    pthread_t thread;
    pthread_create(&thread, 0, named, 0);
    pthread_join(thread, 0);
    prctl(PR_GET_NAME, name);
    printf(", first %s\n", name);
}

static volatile int told;
static void on_time(union sigval value) { told += value.sival_int; }

static void timers(void) {
    struct sigevent event = {0};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_time;
    event.sigev_value.sival_int = 5;
    timer_t timer;
    printf("timer: %s", error(timer_create(CLOCK_MONOTONIC, &event, &timer)));
    struct itimerspec times = {{0, 10000000}, {0, 5000000}}, now;
    printf(" %s", error(timer_settime(timer, 0, &times, 0)));
    while (told < 15) usleep(5000);
    timer_gettime(timer, &now);
    printf(" %ld %s", now.it_interval.tv_nsec, error(timer_delete(timer)));
    printf(" %s\n", error(timer_create(4711, &event, &timer)));
}

static long by_interrupt(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third) : "memory");
    return result;
}

static void ways(void) {
    static char text[] = "by interrupt\n";
    char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    strcpy(low, text);
    fflush(stdout);
    long written = by_interrupt(4, 1, (long)low, (long)strlen(low));
    printf("%ld %d %ld\n", written, by_interrupt(20, 0, 0, 0) == getpid(), by_interrupt(6, 12345, 0, 0));
    struct __user_cap_header_struct header = {0x19980330, 0};
    unsigned data[6];
    memset(data, 0x77, sizeof data);
    printf("capabilities: %s %x", error(syscall(SYS_capget, &header, data)), data[3]);
    header.version = 5;
    printf(" %s", error(syscall(SYS_capget, &header, data)));
    printf(" %x\n", header.version);
    printf("unknown: %s %s\n", error(syscall(487, 0, 0, 0)), error(syscall(100000, 0, 0, 0)));
    printf("at: %s", error(syscall(SYS_openat2, AT_FDCWD, "/", &(long[3]){O_RDONLY, 0, 0}, 24)));
    printf(" %s", error(syscall(SYS_openat2, AT_FDCWD, "/", &(long[3]){O_RDONLY, 0, 0}, 8)));
    printf(" %s\n", error(syscall(SYS_openat2, AT_FDCWD, "/", &(long[3]){O_RDONLY, 0, 1l << 40}, 24)));
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "deep") == 0) {
        deep(40);
        return 8;
    }
    setvbuf(stdout, 0, _IOFBF, 1 << 16);
    memory();
    children();
    threads();
    timers();
    ways();
    return 0;
}
