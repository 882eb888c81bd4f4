// Threads: locks, cancelling, names, stacks, and what is left when one ends.
#include "family.h"
#include <linux/futex.h>
#include <semaphore.h>
#include <threads.h>
static volatile int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t start(void *(*run)(void *), void *with) {
    pthread_t thread;
    pthread_create(&thread, 0, run, with);
    return thread;
}
static void *join(pthread_t thread) {
    void *result = (void *)-7;
    pthread_join(thread, &result);
    return result;
}
static void *nothing(void *with) { return with; }

static void *try_it(void *at) { return (void *)(long)pthread_mutex_trylock(at); }
static void *unlock_it(void *at) { return (void *)(long)pthread_mutex_unlock(at); }
PROGRAM(kinds_of_mutex) {
    static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, kinds[i]);
        pthread_mutex_t mutex;
        pthread_mutex_init(&mutex, &kind);
        pthread_mutex_lock(&mutex);
        printf("%s", strerrorname_np(pthread_mutex_trylock(&mutex)) ?: "none");
        if (i) printf(" %s", strerrorname_np(pthread_mutex_lock(&mutex)) ?: "none");
        printf(" %ld", (long)join(start(try_it, &mutex)));
        if (i) printf(" %ld", (long)join(start(unlock_it, &mutex)));
        printf(" %d,", pthread_mutex_unlock(&mutex));
    }
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    pthread_mutex_lock(&lock);
    printf(" %s", strerrorname_np(pthread_mutex_timedlock(&lock, &soon)));
    clock_gettime(CLOCK_MONOTONIC, &soon);
    printf(" %s\n", strerrorname_np(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &soon)));
}
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static void *read_it(void *unused) { return (void *)(long)(pthread_rwlock_tryrdlock(&both) * 100 + pthread_rwlock_trywrlock(&both)); }
static void *write_many(void *unused) {
    for (int i = 0; i < 1000; i++) {
        pthread_rwlock_wrlock(&both);
        count++;
        pthread_rwlock_unlock(&both);
        pthread_rwlock_rdlock(&both);
        pthread_rwlock_unlock(&both);
    }
    return 0;
}
PROGRAM(readers) {
    pthread_rwlock_rdlock(&both);
    printf("%ld", (long)join(start(read_it, 0)));
    pthread_rwlock_init(&both, 0);
    pthread_t all[4];
    for (int i = 0; i < 4; i++) all[i] = start(write_many, 0);
    for (int i = 0; i < 4; i++) join(all[i]);
    printf(" %d\n", count);
}
static pthread_barrier_t barrier;
static void *meet(void *unused) {
    long serial = 0;
    for (int i = 0; i < 50; i++) serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    return (void *)serial;
}
PROGRAM(barriers) {
    pthread_barrier_init(&barrier, 0, 5);
    pthread_t all[5];
    long serial = 0;
    for (int i = 0; i < 5; i++) all[i] = start(meet, 0);
    for (int i = 0; i < 5; i++) serial += (long)join(all[i]);
    printf("%ld\n", serial);
}
static pthread_cond_t ready;
static void *turn(void *number) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        while (count % 3 != (long)number) pthread_cond_wait(&ready, &lock);
        count++;
        pthread_cond_broadcast(&ready);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
PROGRAM(conditions) {
    pthread_condattr_t kind;
    pthread_condattr_init(&kind);
    pthread_condattr_setclock(&kind, CLOCK_MONOTONIC);
    pthread_cond_init(&ready, &kind);
    pthread_t all[3];
    for (long i = 0; i < 3; i++) all[i] = start(turn, (void *)i);
    for (int i = 0; i < 3; i++) join(all[i]);
    struct timespec soon;
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_nsec += 5000000;
    if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
    pthread_mutex_lock(&lock);
    printf("%d %s", count, strerrorname_np(pthread_cond_timedwait(&ready, &lock, &soon)));
    clock_gettime(CLOCK_REALTIME, &soon);
    printf(" %s\n", strerrorname_np(pthread_cond_clockwait(&ready, &lock, CLOCK_REALTIME, &soon)));
}
static void cleaned(void *what) { printf("%s ", (char *)what); }
static void *in_read(void *ends) {
    char byte;
    pthread_cleanup_push(cleaned, "outer");
    pthread_cleanup_push(cleaned, "inner");
    count = 1;
    read(((int *)ends)[0], &byte, 1);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return 0;
}
static void *busy(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    count = 1;
    for (;;) {}
    return 0;
}
static void *closed(void *unused) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    count = 1;
    pause_for(30);
    printf("kept ");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    pthread_testcancel();
    return 0;
}
PROGRAM(cancelled) {
    int ends[2];
    pipe(ends);
    pthread_t thread = start(in_read, ends);
    while (!count) pause_for(1);
    pthread_cancel(thread);
    printf("%d", join(thread) == PTHREAD_CANCELED);
    count = 0, thread = start(busy, 0);
    while (!count) pause_for(1);
    pthread_cancel(thread);
    printf(" %d ", join(thread) == PTHREAD_CANCELED);
    count = 0, thread = start(closed, 0);
    while (!count) pause_for(1);
    pthread_cancel(thread);
    printf("%d\n", join(thread) == PTHREAD_CANCELED);
}
static pthread_key_t key;
static __thread int own = 5;
static void destroyed(void *value) {
    count += (int)(long)value;
    if ((long)value > 1) pthread_setspecific(key, (void *)((long)value / 2));
}
static void *keyed(void *value) {
    own += (int)(long)value;
    pthread_setspecific(key, value);
    return (void *)(long)own;
}
PROGRAM(own_values) {
    pthread_key_create(&key, destroyed);
    long first = (long)join(start(keyed, (void *)8)), second = (long)join(start(keyed, (void *)1));
    printf("%ld %ld %d %d\n", first, second, own, count);
}
static sem_t go;
static void *wait_to_go(void *unused) {
    sem_wait(&go);
    return (void *)syscall(SYS_gettid);
}
PROGRAM(names_of_others) {
    sem_init(&go, 0, 0);
    pthread_t thread = start(wait_to_go, 0);
    char name[16] = {0};
    printf("%d", pthread_setname_np(thread, "other"));
    printf(" %d", pthread_getname_np(thread, name, 16));
    printf(" %s", name);
    pthread_setname_np(pthread_self(), "first");
    printf(" %d", pthread_getname_np(pthread_self(), name, 16));
    printf(" %s", name);
    printf(" %s\n", strerrorname_np(pthread_setname_np(thread, "a name that is too long")));
    sem_post(&go);
    join(thread);
}
PROGRAM(pinned) {
    sem_init(&go, 0, 0);
    pthread_t thread = start(wait_to_go, 0);
    cpu_set_t one, told, before;
    sched_getaffinity(0, sizeof before, &before);
    int first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    printf("%d", pthread_setaffinity_np(thread, sizeof one, &one));
    pthread_getaffinity_np(thread, sizeof told, &told);
    printf(" %d", CPU_COUNT(&told));
    sched_getaffinity(0, sizeof told, &told);
    printf(" %d\n", CPU_EQUAL(&told, &before));
    sem_post(&go);
    join(thread);
}
PROGRAM(clocks_of_threads) {
    sem_init(&go, 0, 0);
    pthread_t thread = start(wait_to_go, 0);
    clockid_t clock;
    struct timespec time;
    printf("%d", pthread_getcpuclockid(thread, &clock));
    printf(" %s", error(clock_gettime(clock, &time)));
    pthread_getcpuclockid(pthread_self(), &clock);
    printf(" %s", error(clock_gettime(clock, &time)));
    printf(" %s\n", error(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)));
    sem_post(&go);
    join(thread);
}
PROGRAM(numbers) {
    sem_init(&go, 0, 1);
    long other = (long)join(start(wait_to_go, 0));
    printf("%d %d %d", syscall(SYS_gettid) == getpid(), other != getpid(), other > 0);
    printf(" %s\n", error(syscall(SYS_tgkill, getpid(), other, 0)));
}
static void *look_around(void *unused) {
    pthread_attr_t attributes;
    void *low;
    size_t size, guard;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    char here;
    printf("%zu %zu %d ", size, guard, &here > (char *)low && &here < (char *)low + size);
    return 0;
}
PROGRAM(stacks) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    pthread_attr_setguardsize(&attributes, 8192);
    pthread_t thread;
    pthread_create(&thread, &attributes, look_around, 0);
    join(thread);
    static char room[1 << 16] __attribute__((aligned(4096)));
    pthread_attr_setstack(&attributes, room, sizeof room);
    pthread_create(&thread, &attributes, look_around, 0);
    join(thread);
    printf("%s\n", strerrorname_np(pthread_attr_setstacksize(&attributes, 10)));
}
static long word(int operation, unsigned *at, unsigned first, void *time, unsigned *other, unsigned third) {
    return syscall(SYS_futex, at, operation, first, time, other, third);
}
static unsigned words[4];
static void *wait_on(void *bits) { return (void *)(word(FUTEX_WAIT_BITSET_PRIVATE, &words[0], 0, 0, 0, (unsigned)(long)bits) + 3); }
PROGRAM(raw_words) {
    struct timespec soon = {0, 1000000};
    printf("%s", error(word(FUTEX_WAIT_PRIVATE, &words[0], 5, &soon, 0, 0)));
    printf(" %s", error(word(FUTEX_WAIT_PRIVATE, &words[0], 0, &soon, 0, 0)));
    printf(" %s", error(word(FUTEX_WAIT_BITSET_PRIVATE, &words[0], 0, &soon, 0, 0)));
    pthread_t first = start(wait_on, (void *)1), second = start(wait_on, (void *)2);
    long woken;
    while ((woken = word(FUTEX_WAKE_BITSET_PRIVATE, &words[0], 10, 0, 0, 2)) == 0) pause_for(1);
    printf(" %ld", woken);
    join(second);
    printf(" %s", error(word(FUTEX_CMP_REQUEUE_PRIVATE, &words[0], 0, (void *)10, &words[1], 9)));
    while ((woken = word(FUTEX_CMP_REQUEUE_PRIVATE, &words[0], 0, (void *)10, &words[1], 0)) == 0) pause_for(1);
    printf(" %ld", woken);
    printf(" %ld", word(FUTEX_WAKE_PRIVATE, &words[0], 10, 0, 0, 0));
    printf(" %ld", word(FUTEX_WAKE_PRIVATE, &words[1], 10, 0, 0, 0));
    printf(" %ld", (long)join(first));
    words[2] = 4;
    printf(" %ld", word(FUTEX_WAKE_OP_PRIVATE, &words[0], 1, (void *)1, &words[2], FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 4)));
    printf(" %u", words[2]);
    printf(" %s\n", error(word(99, &words[0], 1, 0, 0, 0)));
}
static void *goes_on(void *unused) {
    pause_for(20);
    printf("goes on\n");
    fflush(stdout);
    return 0;
}
static void first_ends(void) {
    start(goes_on, 0);
    pthread_exit(0);
}
static void *ends_all(void *unused) {
    _exit(9);
    return 0;
}
static void another_ends(void) {
    start(ends_all, 0);
    for (;;) pause();
}
PROGRAM(endings) {
    int first = child(first_ends);
    printf("%d %d\n", first, child(another_ends));
}
static void *forks(void *unused) {
    fflush(stdout);
    int status, number = fork();
    if (number == 0) _exit(syscall(SYS_gettid) == getpid() ? 3 : 4);
    waitpid(number, &status, 0);
    return (void *)(long)ended(status);
}
static void *runs(void *unused) {
    execl("/bin/echo", "echo", "from a thread", (char *)0);
    return 0;
}
static void run_in_thread(void) { join(start(runs, 0)); }
PROGRAM(forked) {
    printf("%ld\n", (long)join(start(forks, 0)));
    printf("%d\n", child(run_in_thread));
}
static int simple(void *with) { return *(int *)with * 2; }
PROGRAM(of_the_standard) {
    thrd_t thread;
    int number = 21, result;
    thrd_create(&thread, simple, &number);
    thrd_join(thread, &result);
    mtx_t mutex;
    mtx_init(&mutex, mtx_timed | mtx_recursive);
    mtx_lock(&mutex);
    printf("%d %d", result, mtx_trylock(&mutex) == thrd_success);
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    cnd_t condition;
    cnd_init(&condition);
    mtx_unlock(&mutex);
    printf(" %d\n", cnd_timedwait(&condition, &mutex, &soon) == thrd_timedout);
}
