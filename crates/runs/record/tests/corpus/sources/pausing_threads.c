// Two threads that wait for signals: from the kernel, and from each other.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int rang, heard, ready, finished;
static void ring(int unused) { rang++; }
static void hear(int unused) { heard++; }
static void every(int microseconds) {
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_usec = timer.it_interval.tv_usec = microseconds;
    setitimer(ITIMER_REAL, &timer, NULL);
}
static void *listen(void *unused) {
    // The timer's signals are the other thread's: the kernel may give them to any that takes them.
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &timer, NULL);
    ready = 1;
    while (heard < 5) pause();
    finished = 1;
    return NULL;
}
int main(void) {
    signal(SIGALRM, ring);
    signal(SIGUSR1, hear);
    pthread_t thread;
    pthread_create(&thread, NULL, listen, NULL);
    while (!ready) usleep(1000);
    every(20000);
    while (rang < 5) {
        sigset_t none;
        sigemptyset(&none);
        if (rang % 2) pause();
        else sigsuspend(&none);
    }
    every(0);
    // Until it is done: one that comes before its wait leaves the wait alone.
    while (!finished) {
        pthread_kill(thread, SIGUSR1);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    printf("%d %d\n", rang >= 5, heard >= 5);
    return 0;
}
