// Small programs of one family in one file: PROGRAM(name) { ... }. Without an argument their names are printed, with one that program runs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct { const char *name; void (*run)(void); } programs[64];
static int count_of_programs;
#define PROGRAM(title) \
    static void title(void); \
    __attribute__((constructor)) static void add_##title(void) { \
        programs[count_of_programs].name = #title; \
        programs[count_of_programs++].run = title; \
    } \
    static void title(void)

// What a call came to: its result if that says something, or its error.
static inline const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }
static inline int ended(int status) { return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status); }
// A child that runs a function; how it ended.
static inline int child(void (*run)(void)) {
    fflush(stdout);
    int status = 0, number = fork();
    if (number == 0) {
        run();
        fflush(stdout);
        _exit(0);
    }
    waitpid(number, &status, 0);
    return ended(status);
}
static inline int temporary(void) {
    char name[] = "/tmp/family-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    return file;
}
static inline void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, 0);
}
static inline void block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(how, &set, 0);
}
static inline void pause_for(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time)) {}
}

int main(int argc, char **argv) {
    for (int i = 0; i < count_of_programs; i++) {
        if (argc < 2) puts(programs[i].name);
        else if (strcmp(argv[1], programs[i].name) == 0) programs[i].run();
    }
    return 0;
}
