/* Section 4.5 in small: a collector and its helper thread. The lock protects the heap, and the counter of chunks that wait
   to expire is changed by the helper without it. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int chunks_waiting;
int chunks_total;
static volatile int timers;

__attribute__((noinline)) void gc_lock(void)
{
    pthread_mutex_lock(&mutex);
    __asm__ volatile("");
}

__attribute__((noinline)) void gc_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void expire(int count)
{
    chunks_waiting += count; /* Without the lock. */
    gc_lock();
    chunks_total += count;
    gc_unlock();
}

static void *helper(void *unused)
{
    for (int i = 0; i < 20; i++) {
        expire(1);
        for (volatile int pause = 0; pause < 500; pause++)
            ;
    }
    return unused;
}

__attribute__((noinline)) static void collect(void)
{
    gc_lock();
    if (chunks_waiting != 0)
        timers++;
    chunks_total++;
    gc_unlock();
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, helper, 0);
    for (int i = 0; i < 20; i++) {
        collect();
        for (volatile int pause = 0; pause < 700; pause++)
            ;
    }
    pthread_join(thread, 0);
    printf("%d timers\n", timers > 0);
    return 0;
}
