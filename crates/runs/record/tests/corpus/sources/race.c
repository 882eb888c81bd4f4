// Two threads that count without a lock: an update between another's load and store is lost.
#include <pthread.h>
static volatile long count;
static void *work(void *unused) {
    for (int i = 0; i < 30000; i++) {
        long seen = count;
        count = seen + 1;
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return count != 60000;
}
