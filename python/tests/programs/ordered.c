/* A variable that no lock protects and that never races, since starting and joining order its accesses; one that a lock
   orders; and one that races. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_changed = PTHREAD_COND_INITIALIZER;
int handed, guarded, racing, ready;

static void *helper(void *unused)
{
    handed++;
    pthread_mutex_lock(&mutex);
    guarded++;
    ready = 1;
    pthread_cond_signal(&ready_changed);
    pthread_mutex_unlock(&mutex);
    racing++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    handed = 1;
    pthread_create(&thread, 0, helper, 0);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&ready_changed, &mutex);
    guarded++;
    pthread_mutex_unlock(&mutex);
    racing++;
    pthread_join(thread, 0);
    handed++;
    printf("%d %d %d\n", handed, guarded, racing > 0);
    return 0;
}
