// Memory, semaphores, messages and locks between processes, and calls on the memory of a process by its number.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }

static void segments(void) {
    int number = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600);
    int *at = shmat(number, 0, 0);
    at[0] = 1;
    if (fork() == 0) {
        int *again = shmat(number, 0, 0);
        again[1] = at[0] + 41;
        at[2] = 3;
        shmdt(again);
        _exit(0);
    }
    wait(0);
    struct shmid_ds status;
    shmctl(number, IPC_STAT, &status);
    printf("segment: %d %d %d, %lu bytes, attached %lu\n", at[0], at[1], at[2], (unsigned long)status.shm_segsz, (unsigned long)status.shm_nattch);
    int *readable = shmat(number, 0, SHM_RDONLY);
    printf("twice: %d, to be written: %s\n", readable[1], error(mprotect(readable, 4096, PROT_READ | PROT_WRITE)));
    at[5] = 99;
    printf("seen: %d\n", readable[5]);
    printf("back: %s", error(shmdt(at)));
    printf(" %s", error(shmdt(at)));
    printf(" %s", error(shmdt(readable)));
    printf(" %s", error(shmctl(number, IPC_RMID, 0)));
    printf(" %s\n", error(shmat(number, 0, 0) == (void *)-1 ? -1 : 0));
    printf("bad: %s\n", error(shmget(IPC_PRIVATE, 0, IPC_CREAT)));
}

static void *post(void *number) {
    struct sembuf up = {0, 2, 0};
    usleep(20000);
    semop(*(int *)number, &up, 1);
    return 0;
}

static void semaphores(void) {
    int number = semget(IPC_PRIVATE, 3, 0600);
    unsigned short all[3] = {0, 5, 7};
    union { int value; unsigned short *all; struct semid_ds *status; } argument = {.all = all};
    semctl(number, 0, SETALL, argument);
    struct sembuf down[2] = {{1, -2, 0}, {2, -7, IPC_NOWAIT}};
    printf("semaphores: %s", error(semop(number, down, 2)));
    printf(" %s", error(semop(number, down, 2)));
    printf(" %d %d", semctl(number, 1, GETVAL), semctl(number, 2, GETVAL));
    struct sembuf wait_for = {0, -2, 0};
    struct timespec soon = {0, 20000000};
    printf(" %s\n", error(semtimedop(number, &wait_for, 1, &soon)));
    pthread_t thread;
    pthread_create(&thread, 0, post, &number);
    printf("of a thread: %s\n", error(semop(number, &wait_for, 1)));
    pthread_join(thread, 0);
    if (fork() == 0) {
        post(&number);
        _exit(0);
    }
    printf("of a process: %s\n", error(semop(number, &wait_for, 1)));
    wait(0);
    semctl(number, 0, IPC_RMID);
    printf("gone: %s\n", error(semop(number, &wait_for, 1)));
}

static void messages(void) {
    struct { long kind; char text[64]; } message = {3, "hello"};
    int queue = msgget(IPC_PRIVATE, 0600);
    printf("messages: %s", error(msgsnd(queue, &message, 6, 0)));
    memset(&message, 0, sizeof message);
    printf(" %zd", msgrcv(queue, &message, 60, 0, 0));
    printf(" %ld %s", message.kind, message.text);
    printf(" %s\n", error(msgrcv(queue, &message, 60, 0, IPC_NOWAIT)));
    if (fork() == 0) {
        message.kind = 9, strcpy(message.text, "from a child");
        msgsnd(queue, &message, 13, 0);
        _exit(0);
    }
    msgrcv(queue, &message, 60, 9, 0);
    printf("%ld %s\n", message.kind, message.text);
    wait(0);
    msgctl(queue, IPC_RMID, 0);
    char name[64];
    sprintf(name, "/parallax-test-%d", getpid());
    struct mq_attr attributes = {0, 4, 32, 0, {0}}, told;
    mqd_t posix = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink(name);
    char text[32] = {0};
    unsigned priority = 0;
    printf("queue: %s", error(mq_send(posix, "later", 6, 1)));
    mq_send(posix, "first", 6, 5);
    printf(" %zd", mq_receive(posix, text, 32, &priority));
    printf(" %s %u", text, priority);
    mq_getattr(posix, &told);
    printf(" %ld %ld", told.mq_curmsgs, told.mq_msgsize);
    mq_receive(posix, text, 32, &priority);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 20000000;
    if (soon.tv_nsec > 999999999) soon.tv_sec++, soon.tv_nsec -= 1000000000;
    printf(" %s\n", error(mq_timedreceive(posix, text, 32, &priority, &soon)));
}

static void *die_with(void *lock) {
    pthread_mutex_lock(lock);
    return 0;
}

static void locks(void) {
    pthread_mutex_t *all = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int *shared = (int *)(all + 8);
    for (int kind = 0; kind < 4; kind++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutexattr_setpshared(&attributes, kind & 1 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        pthread_mutexattr_setprotocol(&attributes, kind & 2 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
        pthread_mutex_init(&all[kind], &attributes);
        pthread_t thread;
        pthread_create(&thread, 0, die_with, &all[kind]);
        pthread_join(thread, 0);
        printf("owner died: %s", strerrorname_np(pthread_mutex_lock(&all[kind])));
        pthread_mutex_consistent(&all[kind]);
        pthread_mutex_unlock(&all[kind]);
        printf(" %d\n", pthread_mutex_trylock(&all[kind]));
        pthread_mutex_unlock(&all[kind]);
        if (kind & 1) {
            fflush(stdout);
            if (fork() == 0) {
                pthread_mutex_lock(&all[kind]);
                shared[kind] = 1;
                usleep(30000);
                _exit(0);
            }
            while (!*(volatile int *)&shared[kind]) usleep(1000);
            printf("in a child: %s\n", strerrorname_np(pthread_mutex_lock(&all[kind])));
            wait(0);
            pthread_mutex_consistent(&all[kind]);
            pthread_mutex_unlock(&all[kind]);
        }
    }
    // Many turns of one lock between two processes.
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&all[5], &attributes);
    int child = fork();
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&all[5]);
        shared[9]++;
        if (i % 50 == 0) usleep(1000);
        pthread_mutex_unlock(&all[5]);
    }
    if (child == 0) _exit(0);
    wait(0);
    printf("turns: %d\n", shared[9]);
}

int main(void) {
    setvbuf(stdout, 0, _IOLBF, 0);
    segments();
    semaphores();
    messages();
    locks();
    char from[] = "by its number", to[32] = {0};
    struct iovec own[2] = {{to, 5}, {to + 5, 20}}, other = {from, sizeof from};
    printf("read: %zd %s", process_vm_readv(getpid(), own, 2, &other, 1, 0), to);
    other.iov_base = (void *)16;
    printf(" %s", error(process_vm_readv(getpid(), own, 2, &other, 1, 0)));
    printf(" %s\n", error(process_vm_writev(getpid(), own, 2, own, 2, 9)));
    printf("barrier: %ld", syscall(SYS_membarrier, 0, 0, 0) > 0);
    printf(" %s", error(syscall(SYS_membarrier, 16, 0, 0)));
    printf(" %s\n", error(syscall(SYS_membarrier, 8, 0, 0)));
    int poll = epoll_create1(0), event = eventfd(3, 0);
    struct epoll_event wanted = {EPOLLIN, {.u32 = 5}}, found = {0};
    epoll_ctl(poll, EPOLL_CTL_ADD, event, &wanted);
    struct timespec none = {0, 1000000};
    printf("epoll: %ld", syscall(SYS_epoll_pwait2, poll, &found, 1, &none, 0, 8));
    printf(" %u", found.data.u32);
    unsigned long eight;
    read(event, &eight, 8);
    printf(" %ld", syscall(SYS_epoll_pwait2, poll, &found, 1, &none, 0, 8));
    printf(" %s\n", error(syscall(SYS_epoll_pwait2, poll, &found, 0, &none, 0, 8)));
    int ends[2];
    pipe(ends);
    struct iovec part = {from, 6};
    printf("splice: %zd", vmsplice(ends[1], &part, 1, 0));
    memset(from, 'x', 6);
    part.iov_base = to;
    printf(" %zd", vmsplice(ends[0], &part, 1, 0));
    printf(" %s\n", error(vmsplice(ends[0], &part, 1, 4096)));
    return 0;
}
