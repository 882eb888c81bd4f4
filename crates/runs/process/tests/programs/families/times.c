// Clocks and timers: what they say of each other, and when they tell.
#include "family.h"
#include <sys/timerfd.h>
#include <sys/timex.h>
static volatile int count, code, value, overrun;
static void note(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    count++, code = info->si_code, value = info->si_value.sival_int, overrun = info->si_overrun;
}

PROGRAM(clocks) {
    static const clockid_t all[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI, 77};
    for (int i = 0; i < 10; i++) {
        struct timespec first, second, fine;
        if (clock_gettime(all[i], &first)) {
            printf(" %s\n", error(-1));
            continue;
        }
        for (volatile int i = 0; i < 1000; i++) {}
        clock_gettime(all[i], &second);
        printf("%d %s ", second.tv_sec > first.tv_sec || second.tv_sec == first.tv_sec && second.tv_nsec >= first.tv_nsec, error(clock_getres(all[i], &fine)));
    }
    time_t now = time(0);
    struct timeval day;
    gettimeofday(&day, 0);
    printf("%d %s\n", day.tv_sec - now < 2, error(clock_settime(CLOCK_MONOTONIC, &(struct timespec){1, 0})));
}
PROGRAM(sleeps) {
    struct timespec before, after, wish = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    printf("%s", error(nanosleep(&wish, 0)));
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf(" %d", (after.tv_sec - before.tv_sec) * 1000000000l + after.tv_nsec - before.tv_nsec >= 20000000);
    printf(" %d", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &before, 0));
    wish.tv_nsec = 1000000000;
    printf(" %s %d %d\n", error(nanosleep(&wish, 0)), clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &wish, 0), clock_nanosleep(88, 0, &before, 0));
}
PROGRAM(timers) {
    handle(SIGRTMIN, note, 0);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 31};
    timer_t timer;
    printf("%s", error(timer_create(CLOCK_MONOTONIC, &event, &timer)));
    struct itimerspec times = {{0, 0}, {0, 5000000}}, told;
    timer_settime(timer, 0, &times, 0);
    while (!count) pause_for(1);
    timer_gettime(timer, &told);
    printf(" %d %d %ld", code, value, told.it_value.tv_nsec);
    block(SIG_BLOCK, SIGRTMIN);
    times.it_interval.tv_nsec = 1000000;
    timer_settime(timer, 0, &times, 0);
    pause_for(60);
    count = 0;
    block(SIG_UNBLOCK, SIGRTMIN);
    printf(" %d %d", count > 0, overrun > 5);
    times.it_value.tv_nsec = -1;
    printf(" %s", error(timer_settime(timer, 0, &times, 0)));
    printf(" %s", error(timer_delete(timer)));
    event.sigev_signo = 99;
    printf(" %s\n", error(timer_create(CLOCK_MONOTONIC, &event, &timer)));
}
static void *for_thread(void *unused) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1};
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    timer_t timer;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    struct itimerspec times = {{0, 0}, {0, 5000000}};
    int made = timer_create(CLOCK_MONOTONIC, &event, &timer);
    if (made) return (void *)(long)errno;
    timer_settime(timer, 0, &times, 0);
    siginfo_t info;
    return (void *)(long)(sigwaitinfo(&set, &info) - SIGRTMIN + 1000);
}
PROGRAM(timers_of_threads) {
    block(SIG_BLOCK, SIGRTMIN + 1);
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, for_thread, 0);
    pthread_join(thread, &result);
    printf("%ld\n", (long)result);
}
PROGRAM(by_descriptor) {
    int file = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    uint64_t times_;
    printf("%s", error(read(file, &times_, 8)));
    struct itimerspec times = {{0, 3000000}, {0, 3000000}}, before;
    timerfd_settime(file, 0, &times, 0);
    struct pollfd ready = {file, POLLIN, 0};
    printf(" %d", poll(&ready, 1, 1000));
    pause_for(30);
    long got = read(file, &times_, 8);
    printf(" %ld %d", got, times_ >= 5);
    times = (struct itimerspec){{0, 0}, {0, 0}};
    timerfd_settime(file, 0, &times, &before);
    printf(" %ld", before.it_interval.tv_nsec);
    times.it_value.tv_sec = 1;
    timerfd_settime(file, TFD_TIMER_ABSTIME, &times, 0);
    printf(" %d %s\n", poll(&ready, 1, 1000), error(timerfd_settime(file, 99, &times, 0)));
}
PROGRAM(alarms) {
    handle(SIGALRM, note, 0);
    printf("%u", alarm(100));
    struct itimerval now, wish = {{0, 0}, {0, 10000}};
    getitimer(ITIMER_REAL, &now);
    printf(" %d", now.it_value.tv_sec >= 99 - 1);
    setitimer(ITIMER_REAL, &wish, &now);
    printf(" %d", now.it_value.tv_sec >= 99 - 1);
    while (!count) pause_for(1);
    printf(" %u %s %s\n", alarm(0), error(setitimer(9, &wish, 0)), error(setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 1000000}}, 0)));
}
PROGRAM(cycles) {
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    uint64_t first = (uint64_t)high << 32 | low;
    for (volatile int i = 0; i < 1000; i++) {}
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    printf("%d\n", ((uint64_t)high << 32 | low) > first);
}
PROGRAM(old_ways) {
    long (*time_)(long *) = (void *)0xffffffffff600400;
    int (*day)(struct timeval *, void *) = (void *)0xffffffffff600000;
    struct timeval now;
    printf("%d", day(&now, 0));
    printf(" %d\n", time_(0) - now.tv_sec < 2);
}
PROGRAM(adjustments) {
    struct timex all = {0};
    printf("%d", adjtimex(&all) >= 0);
    printf(" %d\n", all.tick > 9000);
}
