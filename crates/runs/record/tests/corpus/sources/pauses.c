// Waiting for a signal that nothing keeps back: it comes while the call waits, not before.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int rang;
static void ring(int unused) { rang++; }
static void every(int microseconds) {
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_usec = timer.it_interval.tv_usec = microseconds;
    setitimer(ITIMER_REAL, &timer, NULL);
}
int main(void) {
    signal(SIGALRM, ring);
    alarm(1);
    int result = pause();
    printf("%d %d\n", result, rang);
    // Again and again, so that a signal that comes between two waits does not leave the next one alone.
    every(20000);
    int waits = 0;
    while (rang < 6) waits += pause() == -1;
    sigset_t none;
    sigemptyset(&none);
    while (rang < 11) waits += sigsuspend(&none) == -1;
    every(0);
    printf("%d %d\n", waits > 0, rang >= 11);
    return 0;
}
