/* Threads that never race: each counts in a field of its own, one lock is fought for, and main waits for the last to end. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct counts {
    long left, right;
} counts;
long shared, result;

static void work(long *count)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        shared++;
        usleep(300);
        pthread_mutex_unlock(&mutex);
        (*count)++;
    }
}

static void *helper(void *unused)
{
    work(&counts.right);
    for (volatile int i = 0; i < 100000; i++)
        ;
    result = 7;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, helper, 0);
    work(&counts.left);
    pthread_join(thread, 0);
    result++;
    shared++;
    printf("%ld %ld %ld %ld\n", counts.left, counts.right, shared, result);
    return 0;
}
