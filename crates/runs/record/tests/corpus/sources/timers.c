// Clocks and sleeping: time passes, and never backwards.
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    struct timespec last, now, nap = {.tv_nsec = 2000000};
    clock_gettime(CLOCK_MONOTONIC, &last);
    int backwards = 0;
    for (int i = 0; i < 20; i++) {
        nanosleep(&nap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        backwards += now.tv_sec < last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec <= last.tv_nsec);
        last = now;
    }
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec when = {.it_value = {.tv_nsec = 1000000}, .it_interval = {.tv_nsec = 1000000}};
    timerfd_settime(timer, 0, &when, NULL);
    unsigned long long expired, total = 0;
    while (total < 5) total += read(timer, &expired, sizeof expired) == 8 ? expired : 1000;
    printf("%d %d\n", backwards, total < 1000);
    return 0;
}
