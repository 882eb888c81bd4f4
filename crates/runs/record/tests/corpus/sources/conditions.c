// A queue between threads, with conditions, a barrier and a time-out.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;
static int queue[8], length;
static void *produce(void *unused) {
    pthread_barrier_wait(&start);
    for (int i = 1; i <= 500; i++) {
        pthread_mutex_lock(&lock);
        while (length == 8) pthread_cond_wait(&emptied, &lock);
        queue[length++] = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_barrier_init(&start, NULL, 3);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, produce, NULL);
    pthread_barrier_wait(&start);
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        while (length == 0) pthread_cond_wait(&filled, &lock);
        sum += queue[--length];
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec -= 1;
    pthread_mutex_lock(&lock);
    int result = pthread_cond_timedwait(&filled, &lock, &late);
    printf("%ld %d\n", sum, result == ETIMEDOUT);
    return 0;
}
