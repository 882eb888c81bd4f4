// Four threads that share counters under locks.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t locks[8];
static unsigned long counters[8];

static void *work(void *argument) {
    unsigned long state = (unsigned long)argument;
    for (int i = 0; i < 1500000; i++) {
        for (int j = 0; j < 20; j++) state = state * 6364136223846793005ul + 1442695040888963407ul;
        int at = state >> 61;
        pthread_mutex_lock(&locks[at]);
        counters[at] += state & 3;
        pthread_mutex_unlock(&locks[at]);
    }
    return 0;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 8; i++) pthread_mutex_init(&locks[i], 0);
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    unsigned long sum = 0;
    for (int i = 0; i < 8; i++) sum += counters[i];
    printf("%lu\n", sum);
    return 0;
}
