// A signal for the whole process, of whose threads only one does not keep it back: that one takes it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_t open_thread;
static volatile int ready, heard, misplaced, finished;
static void hear(int unused) {
    misplaced += !pthread_equal(pthread_self(), open_thread);
    heard++;
}
static void *keep_back(void *unused) {
    while (!finished) usleep(500);
    return unused;
}
static void *take(void *set) {
    open_thread = pthread_self();
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    ready = 1;
    return keep_back(NULL);
}
int main(void) {
    signal(SIGUSR1, hear);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    // Threads inherit it.
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, keep_back, NULL);
    pthread_create(&threads[1], NULL, take, &set);
    pthread_create(&threads[2], NULL, keep_back, NULL);
    while (!ready) usleep(500);
    for (int i = 0; i < 10; i++) {
        kill(getpid(), SIGUSR1);
        while (heard == i) usleep(500);
    }
    finished = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d %d\n", heard, misplaced);
    return 0;
}
