// Which of four threads comes when: the status is made of it.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next, order;
static void *work(void *number) {
    for (volatile int i = 0; i < 15000; i++) {}
    int place = atomic_fetch_add(&next, 1);
    atomic_fetch_add(&order, (place + 1) * (int)(long)number * ((int)(long)number + place));
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return order % 90;
}
