// Locks that lend their owner the priority of those who wait; queues of the kernel that may not be there.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
static pthread_mutex_t lock;
static long count;
static void *work(void *unused) {
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &kind);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    int sane = segment >= 0 || errno == ENOSYS;
    if (segment >= 0) shmctl(segment, IPC_RMID, NULL);
    printf("%ld %d %d\n", count, sane, pthread_mutex_trylock(&lock));
    return 0;
}
