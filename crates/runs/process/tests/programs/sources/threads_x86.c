// Threads: locks, conditions, barriers, waiting in system calls, signals from one to another, cancelling, forking.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[10], queued, total;

static void *produce(void *unused) {
    for (int i = 1; i <= 500; i++) {
        pthread_mutex_lock(&lock);
        while (queued == 10) pthread_cond_wait(&changed, &lock);
        queue[queued++] = i;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return (void *)7;
}

static void *consume(void *unused) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        while (queued == 0) pthread_cond_wait(&changed, &lock);
        total += queue[--queued];
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static atomic_long counter;
static __thread long own = 3;

static void *count(void *unused) {
    for (int i = 0; i < 60000; i++) counter++, own++;
    return (void *)own;
}

static int ends[2];

static void *read_late(void *how) {
    char text[8] = "";
    if (how) {
        struct pollfd one = {ends[0], POLLIN, 0};
        printf("poll %d\n", poll(&one, 1, -1));
    } else {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        printf("select %d\n", select(ends[0] + 1, &set, NULL, NULL, NULL));
    }
    long got = read(ends[0], text, sizeof text - 1);
    printf("read %ld %s\n", got, text);
    return NULL;
}

static sem_t gate, ready;
static atomic_int interrupted;

static void handler(int signal) { interrupted = 1; }

static void *wait_at_gate(void *unused) {
    sem_post(&ready);
    while (sem_wait(&gate) == -1 && errno == EINTR) {}
    return NULL;
}

static void clean(void *text) { puts(text); }

static void *forever(void *unused) {
    pthread_cleanup_push(clean, "cleaned up");
    sem_post(&ready);
    for (;;) pause();
    pthread_cleanup_pop(0);
}

static pthread_barrier_t barrier;
static pthread_key_t key;

static void at_end(void *value) { printf("key %ld\n", (long)value); }

static void *meet(void *number) {
    pthread_barrier_wait(&barrier);
    if ((long)number == 1) pthread_setspecific(key, (void *)9);
    return NULL;
}

static void *wait_for_signal(void *unused) {
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &signal);
    return (void *)(long)(signal == SIGUSR2);
}

int main(void) {
    pthread_t threads[4];
    void *result;
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    pthread_join(threads[0], &result);
    pthread_join(threads[1], NULL);
    printf("%d %ld\n", total, (long)result);

    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &result), printf("%ld ", (long)result);
    printf("%ld\n", counter);

    pipe(ends);
    for (long how = 0; how < 2; how++) {
        pthread_create(&threads[0], NULL, read_late, (void *)how);
        usleep(2000);
        write(ends[1], "late", 4);
        pthread_join(threads[0], NULL);
    }

    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&gate, 0, 0);
    sem_init(&ready, 0, 0);
    pthread_create(&threads[0], NULL, wait_at_gate, NULL);
    sem_wait(&ready);
    pthread_kill(threads[0], SIGUSR1);
    while (!interrupted) sched_yield();
    sem_post(&gate);
    pthread_join(threads[0], NULL);
    puts("through the gate");

    pthread_create(&threads[0], NULL, forever, NULL);
    sem_wait(&ready);
    pthread_cancel(threads[0]);
    pthread_join(threads[0], &result);
    printf("%d\n", result == PTHREAD_CANCELED);

    pthread_key_create(&key, at_end);
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, meet, (void *)i);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);

    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += soon.tv_nsec >= 997000000;
    soon.tv_nsec = (soon.tv_nsec + 3000000) % 1000000000;
    pthread_mutex_lock(&lock);
    printf("%d\n", pthread_cond_timedwait(&changed, &lock, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&threads[0], NULL, wait_for_signal, NULL);
    kill(getpid(), SIGUSR2);
    pthread_join(threads[0], &result);
    printf("%ld\n", (long)result);

    // A fork of many threads is one thread; the others go on here.
    pthread_create(&threads[0], NULL, forever, NULL);
    sem_wait(&ready);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(gettid() == getpid() ? 4 : 5);
    int status;
    waitpid(child, &status, 0);
    printf("%d %d\n", WEXITSTATUS(status), WEXITSTATUS(system("exit 3")));
    printf("%d\n", gettid() == getpid());
    return 5;
}
