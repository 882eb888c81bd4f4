// More bytes than any buffer at once, flags of scattered calls, and what is left of a time that a signal cut short.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef LARGE
#define LARGE (40 << 20)
#endif
static char *buffer;
static const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }

static void drain(int from) {
    static char piece[1 << 16];
    long total = 0, got;
    unsigned sum = 0;
    while ((got = read(from, piece, sizeof piece)) > 0) {
        total += got;
        for (long i = 0; i < got; i += 997) sum = sum * 31 + (unsigned char)piece[i];
    }
    printf("drained %ld\n", total);
    fflush(stdout);
}

static void large(void) {
    int pair[2];
    for (int way = 0; way < 3; way++) {
        if (way == 0) pipe(pair);
        else socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        fflush(stdout);
        if (fork() == 0) {
            close(pair[way == 0 ? 1 : 0]);
            drain(pair[way == 0 ? 0 : 1]);
            _exit(0);
        }
        close(pair[way == 0 ? 0 : 1]);
        int to = pair[way == 0 ? 1 : 0];
        struct iovec parts[2] = {{buffer, LARGE / 2}, {buffer + LARGE / 2, LARGE / 2}};
        long sent = way == 0 ? write(to, buffer, LARGE) : way == 1 ? send(to, buffer, LARGE, 0) : writev(to, parts, 2);
        close(to);
        wait(0);
        printf("sent %ld\n", sent);
    }
    char name[] = "/tmp/large-XXXXXX";
    int f = mkstemp(name);
    unlink(name);
    printf("written %zd", write(f, buffer, LARGE));
    printf(", read %zd\n", pread(f, buffer, LARGE, 0));
}

static void flags(void) {
    char name[] = "/tmp/large-XXXXXX", text[32] = {0};
    int f = mkstemp(name);
    unlink(name);
    struct iovec part = {(void *)"first", 5}, more = {(void *)"more", 4}, into = {text, 31};
    printf("%zd", pwritev(f, &part, 1, 0));
    printf(" %zd", pwritev2(f, &more, 1, 0, 0x10));
    printf(" %zd", preadv(f, &into, 1, 0));
    printf(" %s\n", text);
    printf("current: %zd", pwritev2(f, &more, 1, -1, 0));
    printf(" %s", error(preadv(f, &into, 1, -1)));
    printf(" %s", error(pwritev2(f, &more, 1, 0, 1 << 20)));
    printf(" %s\n", error(preadv2(f, &into, 1, 0, 8)));
    struct iovec bad[2] = {{text, 3}, {text, (size_t)-5}};
    printf("bad: %s", error(readv(f, bad, 2)));
    printf(" %s\n", error(writev(f, bad, 1025)));
}

static volatile int caught;
static void on_alarm(int signal) { caught = signal; }
/* Again and again: a first one may come before the call does, on a busy machine. */
static void alarms(int milliseconds) {
    struct itimerval timer = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, 0);
}
static const char *plausible(long seconds, long parts, long unit) {
    alarms(0);
    double left = (double)seconds + (double)parts / (double)unit;
    return left > 0.0 && left < 900.0 ? "left" : "nothing told";
}

static void *remainders(void *unused) {
    (void)unused;
    struct timespec long_time = {900, 0}, left = {0, 0};
    alarms(40);
    printf("nanosleep: %s", error(nanosleep(&long_time, &left)));
    printf(" %s\n", plausible(left.tv_sec, left.tv_nsec, 1000000000));
    left.tv_sec = left.tv_nsec = 0;
    alarms(40);
    printf("clock_nanosleep: %d", clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left));
    printf(" %s\n", plausible(left.tv_sec, left.tv_nsec, 1000000000));
    struct timeval time = {900, 0};
    alarms(40);
    printf("select: %s", error(select(0, 0, 0, 0, &time)));
    printf(" %s\n", plausible(time.tv_sec, time.tv_usec, 1000000));
    struct timespec raw = {900, 0};
    alarms(40);
    printf("ppoll: %s", error(syscall(SYS_ppoll, 0, 0, &raw, 0, 8)));
    printf(" %s\n", plausible(raw.tv_sec, raw.tv_nsec, 1000000000));
    raw.tv_sec = 900, raw.tv_nsec = 0;
    alarms(40);
    printf("pselect: %s", error(syscall(SYS_pselect6, 0, 0, 0, 0, &raw, 0)));
    printf(" %s\n", plausible(raw.tv_sec, raw.tv_nsec, 1000000000));
    alarms(40);
    unsigned slept = sleep(900);
    alarms(0);
    printf("sleep: %d\n", slept > 0);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct timeval patience = {900, 0};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char byte;
    alarms(40);
    printf("recv with a time: %s\n", error(recv(pair[0], &byte, 1, 0)));
    alarms(0);
    patience.tv_sec = 0, patience.tv_usec = 50000;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    printf("its end: %s\n", error(recv(pair[0], &byte, 1, 0)));
    return 0;
}

int main(void) {
    setvbuf(stdout, 0, _IOFBF, 1 << 16);
    buffer = malloc(LARGE);
    for (long i = 0; i < LARGE; i++) buffer[i] = (char)(i * 7 >> 3);
    large();
    flags();
    struct sigaction action = {0};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    remainders(0);
    pthread_t thread;
    pthread_create(&thread, 0, remainders, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_join(thread, 0);
    return 0;
}
