// Memory: where it lies, what may be done with it, who shares it.
#include "family.h"
enum { PAGE = 4096 };
static sigjmp_buf back;
static volatile int caught;
static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    caught = signal * 100 + info->si_code;
    siglongjmp(back, 1);
}
static int look(volatile char *at) {
    handle(SIGSEGV, on_fault, 0), handle(SIGBUS, on_fault, 0);
    return sigsetjmp(back, 1) ? -caught : *at;
}
static int store(volatile char *at) {
    handle(SIGSEGV, on_fault, 0), handle(SIGBUS, on_fault, 0);
    if (sigsetjmp(back, 1)) return -caught;
    *at = 1;
    return 0;
}
static char *fresh(int pages, int flags) { return mmap(0, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0); }

PROGRAM(hints) {
    char *there = (char *)0x234500000000;
    char *at = mmap(there, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d", at == there);
    at = mmap(there, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf(" %d", at != MAP_FAILED && at != there);
    at = mmap(there, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    printf(" %s", error(at == MAP_FAILED ? -1 : 0));
    at = mmap((void *)(1l << 47), PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf(" %s", error(at == MAP_FAILED ? -1 : 0));
    at = mmap(0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf(" %s\n", getuid() ? "-" : error(at == MAP_FAILED ? -1 : 0));
}
PROGRAM(breaks) {
    char *first = sbrk(0);
    printf("%d", sbrk(3 * PAGE) == first);
    memset(first, 3, 3 * PAGE);
    sbrk(-2 * PAGE);
    sbrk(2 * PAGE);
    printf(" %d %d", first[10], look(first + 2 * PAGE + 1));
    printf(" %ld", syscall(SYS_brk, 0) - (long)sbrk(0));
    printf(" %s\n", error(sbrk(1l << 46) == (void *)-1 ? -1 : 0));
}
PROGRAM(shared_by_a_child) {
    int *own = (int *)fresh(1, MAP_PRIVATE), *both = (int *)fresh(1, MAP_SHARED);
    fflush(stdout);
    if (fork() == 0) {
        own[0] = both[0] = 7;
        mprotect(both, PAGE, PROT_READ);
        _exit(0);
    }
    wait(0);
    both[1] = 8;
    printf("%d %d %d\n", own[0], both[0], both[1]);
}
PROGRAM(guarded_stack) {
    static char other[1 << 16];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    sigaltstack(&stack, 0);
    handle(SIGSEGV, on_fault, SA_ONSTACK);
    pthread_attr_t attributes;
    size_t guard;
    pthread_attr_init(&attributes);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_getattr_np(pthread_self(), &attributes);
    void *low;
    size_t size;
    pthread_attr_getstack(&attributes, &low, &size);
    char here;
    printf("%zu %d\n", guard, &here > (char *)low && &here < (char *)low + size);
}
PROGRAM(residence) {
    char *at = fresh(4, MAP_PRIVATE);
    at[0] = at[2 * PAGE] = 1;
    unsigned char there[4] = {9, 9, 9, 9};
    printf("%s", error(mincore(at, 4 * PAGE, there)));
    printf(" %d %d %d %d", there[0] & 1, there[1] & 1, there[2] & 1, there[3] & 1);
    printf(" %s\n", error(mincore(at + 1, PAGE, there)));
}
PROGRAM(dropped) {
    char *at = fresh(3, MAP_PRIVATE);
    memset(at, 5, 3 * PAGE);
    madvise(at + PAGE, PAGE, MADV_DONTNEED);
    int file = temporary();
    ftruncate(file, 2 * PAGE);
    char *own = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    memset(own, 6, PAGE);
    pwrite(file, "abc", 3, 0);
    madvise(own, PAGE, MADV_DONTNEED);
    printf("%d %d %d %c\n", at[0], at[PAGE], at[2 * PAGE], own[0]);
}
PROGRAM(rights) {
    char *at = fresh(1, MAP_PRIVATE);
    at[0] = 4;
    mprotect(at, PAGE, PROT_NONE);
    printf("%d %d", look(at), store(at));
    mprotect(at, PAGE, PROT_READ);
    printf(" %d %d", look(at), store(at));
    mprotect(at, PAGE, PROT_WRITE);
    printf(" %d %d", look(at), store(at));
    printf(" %s\n", error(read(open("/dev/zero", O_RDONLY), (mprotect(at, PAGE, PROT_READ), at), 10)));
}
PROGRAM(seals) {
    int file = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    ftruncate(file, PAGE);
    char *at = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    printf("%s", error(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE)));
    munmap(at, PAGE);
    printf(" %s", error(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK)));
    printf(" %s", error(write(file, "x", 1)));
    printf(" %s", error(ftruncate(file, 0)));
    printf(" %x\n", fcntl(file, F_GET_SEALS));
}
PROGRAM(maps) {
    char *at = mmap((void *)0x234500000000, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    mprotect(at + PAGE, PAGE, PROT_READ);
    mmap(at + 5 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (fgets(line, sizeof line, maps))
        if (strncmp(line, "2345", 4) == 0) printf("%.32s\n", line);
}
PROGRAM(own_memory_file) {
    static int number = 41;
    int file = open("/proc/self/mem", O_RDWR), got = 0;
    if (file < 0) {
        printf("%s\n", error(file));
        return;
    }
    pread(file, &got, 4, (long)&number);
    got++;
    pwrite(file, &got, 4, (long)&number);
    printf("%d\n", number);
}
PROGRAM(faults_in_calls) {
    char *at = fresh(2, MAP_PRIVATE);
    munmap(at + PAGE, PAGE);
    int ends[2];
    pipe(ends);
    printf("%zd", write(ends[1], at + PAGE - 10, 10));
    printf(" %s", error(write(ends[1], at + PAGE, 10)));
    printf(" %s", error(read(ends[0], at + PAGE, 10)));
    printf(" %s", error(syscall(SYS_stat, at + PAGE, 0)));
    memset(at, 'x', PAGE);
    printf(" %s", error(syscall(SYS_open, at, O_RDONLY)));
    printf(" %s", error(syscall(SYS_stat, "/", at + PAGE - 8)));
    printf(" %s", error(syscall(SYS_clock_gettime, CLOCK_REALTIME, 16)));
    printf(" %s\n", error(syscall(SYS_uname, 16)));
}
PROGRAM(large_sparse) {
    char *at = mmap(0, 1l << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("%s", error(at == MAP_FAILED ? -1 : 0));
    if (at == MAP_FAILED) return;
    at[0] = 1, at[(1l << 39) + 5] = 2, at[(1l << 40) - 1] = 3;
    printf(" %d %d", at[1l << 39], at[(1l << 39) + 5] + at[(1l << 40) - 1]);
    printf(" %s\n", error(munmap(at, 1l << 40)));
}
