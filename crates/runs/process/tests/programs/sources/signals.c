/* Signal handlers, as far as every machine has them, and the calls with structures of machine words. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int count;
static sigjmp_buf back;

static void plain(int signal) { count += signal; }

static void told(int signal, siginfo_t *info, void *context) {
    (void)context;
    count++;
    printf("signal %d %d from us %d\n", signal, info->si_signo, info->si_pid == getpid());
}

static void fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    printf("signal %d code %d address %p\n", signal, info->si_code, info->si_addr);
    siglongjmp(back, 1);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGUSR1, plain);
    raise(SIGUSR1);
    printf("%d\n", count);
    struct sigaction action = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &action, NULL);
    double product = 1.5;
    for (int i = 0; i < 3; i++) raise(SIGUSR2), product *= 1.1;
    printf("%d %f\n", count, product);
    signal(SIGALRM, plain);
    struct itimerval timer = {.it_value = {.tv_usec = 20000}}, left;
    int before = count;
    setitimer(ITIMER_REAL, &timer, NULL);
    while (count == before) {
    }
    getitimer(ITIMER_REAL, &left);
    printf("alarm %d\n", (int)left.it_value.tv_sec);
    action.sa_sigaction = fault;
    sigaction(SIGSEGV, &action, NULL);
    if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    action.sa_flags |= SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    if (!sigsetjmp(back, 1)) *(volatile int *)16 = 1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    printf("%d\n", count);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("%d\n", count);

    int status;
    struct rusage usage;
    pid_t child = fork();
    if (child == 0) _exit(6);
    pid_t waited = wait4(child, &status, 0, &usage);
    printf("%d %d %d\n", waited == child, WEXITSTATUS(status), usage.ru_maxrss > 0);
    struct timeval now;
    gettimeofday(&now, NULL);
    DIR *folder = opendir("/etc/apt");
    int entries = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) entries += strcmp(entry->d_name, "sources.list.d") == 0;
    printf("%d %d\n", now.tv_sec > 1000000, entries);
    abort();
}
