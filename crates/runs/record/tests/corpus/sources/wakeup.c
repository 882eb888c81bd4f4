// A flag that is tested outside the lock: the signal may come between the test and the wait, which then lasts too long.
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static volatile int flag;
static void *work(void *unused) {
    for (volatile int i = 0; i < 2000; i++) {}
    flag = 1;
    pthread_cond_signal(&ready);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    for (volatile int i = 0; i < 1500; i++) {}
    int lost = 0;
    if (!flag) {
        // The mistake: nothing keeps the flag from being set meanwhile.
        for (volatile int i = 0; i < 6000; i++) {}
        struct timespec late;
        clock_gettime(CLOCK_REALTIME, &late);
        late.tv_nsec += 200000000;
        if (late.tv_nsec >= 1000000000) { late.tv_sec++; late.tv_nsec -= 1000000000; }
        pthread_mutex_lock(&lock);
        lost = pthread_cond_timedwait(&ready, &lock, &late) != 0;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return lost;
}
