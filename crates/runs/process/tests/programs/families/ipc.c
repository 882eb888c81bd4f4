// What processes give each other: memory, semaphores, messages, pipes, terminals.
#include "family.h"
#include <mqueue.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <termios.h>
static char name[64];
static const char *own_name(const char *what) {
    sprintf(name, "/family-%s-%d", what, getpid());
    return name;
}

PROGRAM(named_memory) {
    int file = shm_open(own_name("memory"), O_RDWR | O_CREAT | O_EXCL, 0600);
    printf("%s", error(file));
    printf(" %s", error(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600)));
    ftruncate(file, 4096);
    volatile int *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    fflush(stdout);
    if (fork() == 0) {
        int again = shm_open(name, O_RDWR, 0);
        int *there = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
        for (int i = 0; i < 1000; i++) __sync_fetch_and_add(&there[1], 1);
        there[0] = 5;
        _exit(0);
    }
    for (int i = 0; i < 1000; i++) __sync_fetch_and_add(&at[1], 1);
    wait(0);
    printf(" %d %d %s", at[0], at[1], error(shm_unlink(name)));
    printf(" %s\n", error(shm_unlink(name)));
}
PROGRAM(named_semaphores) {
    sem_t *first = sem_open(own_name("semaphore"), O_CREAT | O_EXCL, 0600, 1);
    int value;
    printf("%d", sem_wait(first));
    printf(" %s", error(sem_trywait(first)));
    fflush(stdout);
    if (fork() == 0) {
        sem_t *again = sem_open(name, 0);
        pause_for(20);
        sem_post(again);
        _exit(0);
    }
    printf(" %d", sem_wait(first));
    wait(0);
    sem_getvalue(first, &value);
    struct timespec past = {1, 0};
    printf(" %d %s %s\n", value, error(sem_timedwait(first, &past)), error(sem_unlink(name)));
}
PROGRAM(undone) {
    int set = semget(IPC_PRIVATE, 2, 0600);
    fflush(stdout);
    if (fork() == 0) {
        struct sembuf up[2] = {{0, 3, SEM_UNDO}, {1, 4, 0}};
        semop(set, up, 2);
        _exit(0);
    }
    wait(0);
    printf("%d %d", semctl(set, 0, GETVAL), semctl(set, 1, GETVAL));
    struct sembuf zero = {1, 0, IPC_NOWAIT}, down = {1, -9, IPC_NOWAIT};
    printf(" %s", error(semop(set, &zero, 1)));
    printf(" %s %d", error(semop(set, &down, 1)), semctl(set, 1, GETPID) > 0);
    printf(" %s", error(semctl(set, 0, IPC_RMID)));
    printf(" %s\n", error(semop(set, &zero, 1)));
}
PROGRAM(typed_messages) {
    int queue = msgget(IPC_PRIVATE, 0600);
    struct { long kind; char text[16]; } message;
    for (long kind = 1; kind < 5; kind++) message.kind = kind, sprintf(message.text, "m%ld", kind), msgsnd(queue, &message, 4, 0);
    long got = msgrcv(queue, &message, 16, -3, 0);
    printf("%ld %s", got, message.text);
    msgrcv(queue, &message, 16, 2, MSG_EXCEPT);
    printf(" %s", message.text);
    printf(" %s", error(msgrcv(queue, &message, 1, 0, 0)));
    printf(" %zd", msgrcv(queue, &message, 1, 0, MSG_NOERROR));
    struct msqid_ds status;
    msgctl(queue, IPC_STAT, &status);
    printf(" %lu %s", (unsigned long)status.msg_qnum, error(msgrcv(queue, &message, 16, 9, IPC_NOWAIT)));
    message.kind = 0;
    printf(" %s %s\n", error(msgsnd(queue, &message, 4, 0)), error(msgctl(queue, IPC_RMID, 0)));
}
static volatile int told, value;
static void on_signal(int signal, siginfo_t *info, void *context) { told = info->si_code, value = info->si_value.sival_int; }
PROGRAM(queues) {
    struct mq_attr wanted = {.mq_maxmsg = 3, .mq_msgsize = 16}, now;
    mqd_t queue = mq_open(own_name("queue"), O_RDWR | O_CREAT | O_NONBLOCK, 0600, &wanted);
    mq_unlink(name);
    handle(SIGUSR1, on_signal, 0);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 9};
    printf("%s", error(mq_notify(queue, &event)));
    mq_send(queue, "low", 4, 1), mq_send(queue, "high", 5, 7), mq_send(queue, "low again", 10, 1);
    printf(" %d %d %s", told, value, error(mq_send(queue, "x", 2, 0)));
    char text[16];
    unsigned priority;
    for (int i = 0; i < 3; i++) {
        long got = mq_receive(queue, text, 16, &priority);
        printf(" %ld %s %u", got, text, priority);
    }
    printf(" %s %s", error(mq_receive(queue, text, 16, 0)), error(mq_receive(queue, text, 4, 0)));
    mq_getattr(queue, &now);
    printf(" %ld %ld\n", now.mq_flags, now.mq_curmsgs);
}
PROGRAM(packets_in_pipes) {
    int ends[2];
    pipe2(ends, O_DIRECT | O_NONBLOCK);
    char text[64] = {0};
    write(ends[1], "first", 5), write(ends[1], "second", 6);
    printf("%zd", read(ends[0], text, 3));
    printf(" %zd", read(ends[0], text, 64));
    printf(" %s", error(read(ends[0], text, 1)));
    printf(" %d", fcntl(ends[1], F_SETPIPE_SZ, 5000));
    printf(" %d", fcntl(ends[0], F_GETPIPE_SZ));
    int waiting = -1;
    write(ends[1], "abc", 3);
    ioctl(ends[0], FIONREAD, &waiting);
    printf(" %d %s\n", waiting, error(lseek(ends[0], 0, SEEK_SET)));
}
PROGRAM(terminals) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    printf("%s", error(master));
    printf(" %s", error(grantpt(master)));
    printf(" %s", error(unlockpt(master)));
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct winsize size = {24, 80, 0, 0}, told_size;
    ioctl(master, TIOCSWINSZ, &size);
    ioctl(slave, TIOCGWINSZ, &told_size);
    printf(" %d %d %d", told_size.ws_row, told_size.ws_col, isatty(slave));
    write(master, "line\n", 5);
    char text[64] = {0};
    long got = read(slave, text, 64);
    printf(" %ld %s", got, text);
    memset(text, 0, 64);
    got = read(master, text, 64);
    printf("%ld %s", got, text);
    struct termios mode;
    tcgetattr(slave, &mode);
    cfmakeraw(&mode);
    printf("%s", error(tcsetattr(slave, TCSANOW, &mode)));
    write(master, "xy", 2);
    printf(" %zd", read(slave, text, 64));
    close(slave);
    printf(" %s\n", error(read(master, text, 64)));
}
PROGRAM(counters) {
    int counter = eventfd(3, EFD_NONBLOCK);
    uint64_t number = 4;
    write(counter, &number, 8);
    long got = read(counter, &number, 8);
    printf("%ld %lu", got, (unsigned long)number);
    printf(" %s", error(read(counter, &number, 8)));
    number = ~0ull;
    printf(" %s", error(write(counter, &number, 8)));
    number--;
    printf(" %s", error(write(counter, &number, 8)));
    number = 1;
    printf(" %s %s\n", error(write(counter, &number, 8)), error(write(counter, &number, 4)));
}
PROGRAM(named_pipes) {
    char path[64];
    sprintf(path, "/tmp/family-fifo-%d", getpid());
    printf("%s", error(mkfifo(path, 0600)));
    printf(" %s", error(open(path, O_WRONLY | O_NONBLOCK)));
    fflush(stdout);
    if (fork() == 0) {
        int to = open(path, O_WRONLY);
        write(to, "by name", 7);
        _exit(0);
    }
    int from = open(path, O_RDONLY);
    char text[16] = {0};
    long got = read(from, text, 16);
    printf(" %ld %s", got, text);
    wait(0);
    printf(" %zd", read(from, text, 16));
    printf(" %s\n", error(unlink(path)));
}
