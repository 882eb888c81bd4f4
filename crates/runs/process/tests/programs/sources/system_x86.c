/* The operating system: files, pipes, children, signals, mappings, time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t signals;
static sigjmp_buf back;
static void count(int signal) { signals += signal; }
static void fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    static volatile long where;
    where = (long)info->si_addr;
    siglongjmp(back, info->si_code);
}

int main(void) {
    char path[] = "/tmp/parallax-test-XXXXXX";
    int file = mkstemp(path);
    dprintf(file, "line one\nline two\n");
    lseek(file, 5, SEEK_SET);
    char buffer[64] = {0};
    printf("%zd %s", read(file, buffer, 3), buffer);
    struct stat status;
    fstat(file, &status);
    printf(" %lld %o\n", (long long)status.st_size, status.st_mode & 0777);
    char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mapped[0] = 'L';
    msync(mapped, 4096, MS_SYNC);
    pread(file, buffer, 8, 0);
    printf("%.8s\n", buffer);
    unlink(path);

    int ends[2];
    pipe(ends);
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        shared[0] = 42;
        write(ends[1], "from child", 10);
        _exit(9);
    }
    int result;
    waitpid(child, &result, 0);
    memset(buffer, 0, sizeof buffer);
    read(ends[0], buffer, sizeof buffer);
    printf("%s %d %d\n", buffer, WEXITSTATUS(result), shared[0]);

    char *arguments[] = {"sh", "-c", "echo spawned; exit 3", NULL};
    fflush(stdout);
    int error = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    waitpid(child, &result, 0);
    printf("%d %d\n", error, WEXITSTATUS(result));
    printf("%d\n", posix_spawn(&child, "/no/such/file", NULL, NULL, arguments, environ) == ENOENT);
    FILE *stream = popen("echo through a shell", "r");
    fgets(buffer, sizeof buffer, stream);
    printf("%s%d\n", buffer, pclose(stream));

    struct sigaction action = {.sa_handler = count};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    printf("%d\n", (int)signals);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    printf("blocked %d\n", (int)signals);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("unblocked %d\n", (int)signals);
    struct itimerval timer = {.it_value = {.tv_usec = 20000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (signals < 3 * SIGUSR1 + SIGALRM) {
    }
    printf("alarm %d\n", (int)signals);

    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction faults = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &faults, NULL);
    sigaction(SIGFPE, &faults, NULL);
    int code = sigsetjmp(back, 1);
    if (code == 0) *(volatile int *)8 = 1;
    printf("fault %d\n", code);
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code = sigsetjmp(back, 1);
    if (code == 0) page[1] = 1;
    printf("fault %d\n", code);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    page[1] = 5;
    page = mremap(page, 4096, 1 << 20, MREMAP_MAYMOVE);
    printf("%d %d\n", page[1], page[(1 << 20) - 1]);
    volatile int zero = 0;
    code = sigsetjmp(back, 1);
    if (code == 0) zero = 1 / zero;
    printf("fault %d\n", code);
    printf("%d\n", mmap(NULL, 1ul << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    void *reserved = mmap(NULL, 1ul << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("%d\n", reserved != MAP_FAILED);
    ((char *)reserved)[1ul << 39] = 1;
    printf("%d\n", malloc(1ul << 40) == NULL);

    struct timeval now;
    gettimeofday(&now, NULL);
    printf("%d %d\n", now.tv_sec > 1600000000, usleep(1000));
    printf("%d %s\n", access("/no/such/file", R_OK), strerror(errno));
    printf("%s\n", getcwd(buffer, sizeof buffer) ? "cwd" : "none");
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    abort();
}
