// Files that are mapped and change: grown after they were mapped, cut, written through calls and other mappings.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static sigjmp_buf back;
static volatile int code;
static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    code = signal * 100 + info->si_code;
    siglongjmp(back, 1);
}
// The byte there, or the signal and its code, negative.
static int look(volatile unsigned char *at) {
    if (sigsetjmp(back, 1)) return -code;
    return *at;
}
static int store(volatile unsigned char *at, int value) {
    if (sigsetjmp(back, 1)) return -code;
    *at = (unsigned char)value;
    return 1;
}
static int file(void) {
    char name[] = "/tmp/mapped-XXXXXX";
    int descriptor = mkstemp(name);
    unlink(name);
    return descriptor;
}
static const char *error(long result) { return result == -1 ? strerrorname_np(errno) : "done"; }

static void grown(void) {
    int f = file();
    ftruncate(f, 10);
    unsigned char *shared = mmap(0, 1 << 30, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    unsigned char *own = mmap(0, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    printf("grown: %d %d\n", look(shared + 5), look(shared + 3 * PAGE));
    printf("own: %d %d\n", look(own + 5), look(own + 3 * PAGE));
    ftruncate(f, 20 * PAGE);
    printf("then: %d %d %d\n", look(shared + 3 * PAGE), store(shared + 19 * PAGE, 77), look(own + 19 * PAGE));
    pwrite(f, "abc", 3, 40 * PAGE);
    printf("written: %d %d %d\n", look(shared + 40 * PAGE + 1), look(own + 40 * PAGE + 2), look(own + 41 * PAGE));
    store(own + 5, 9);
    pwrite(f, "xyz", 3, 5);
    store(shared + 2 * PAGE, 55);
    printf("copied: %d %d %d\n", look(own + 5), look(shared + 5), look(own + 2 * PAGE));
    unsigned char *moved = mremap(shared, 1 << 30, (1u << 30) + PAGE, MREMAP_MAYMOVE);
    printf("moved: %d %d\n", look(moved + 2 * PAGE), look(moved + (1 << 30)));
    munmap(moved, (1u << 30) + PAGE);
}

static void cut(void) {
    int f = file();
    ftruncate(f, 4 * PAGE);
    unsigned char *shared = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    unsigned char *own = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    for (int page = 0; page < 4; page++) shared[page * PAGE] = own[page * PAGE + 1] = (unsigned char)(10 + page);
    // Somebody else cuts it.
    if (fork() == 0) {
        ftruncate(f, PAGE + 100);
        _exit(0);
    }
    wait(0);
    for (int page = 0; page < 4; page++) printf("cut %d: %d %d\n", page, look(shared + page * PAGE), store(shared + page * PAGE, 3));
    printf("atomic: ");
    if (sigsetjmp(back, 1)) printf("%d\n", -code);
    else printf("%d\n", __sync_fetch_and_add((int *)(shared + 3 * PAGE), 1));
    printf("read into it: %s\n", error(pread(f, shared + 2 * PAGE, 50, 0)));
    ftruncate(f, 4 * PAGE);
    for (int page = 0; page < 4; page++) printf("again %d: %d\n", page, look(shared + page * PAGE));
    ftruncate(f, PAGE);
    printf("own after all: %d %d\n", look(own + 1), look(own + 3 * PAGE + 1));
}

static void advice(void) {
    unsigned char *at = mmap(0, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(at, 5, 6 * PAGE);
    printf("wipe: %s\n", error(madvise(at, PAGE, MADV_WIPEONFORK)));
    printf("keep: %s\n", error(madvise(at + 2 * PAGE, PAGE, MADV_DONTFORK)));
    fflush(stdout);
    if (fork() == 0) {
        printf("child: %d %d %d\n", look(at), look(at + PAGE), look(at + 2 * PAGE));
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    int f = file();
    ftruncate(f, 3 * PAGE);
    unsigned char *shared = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    memset(shared, 6, 3 * PAGE);
    printf("wipe shared: %s\n", error(madvise(shared, PAGE, MADV_WIPEONFORK)));
    printf("remove: %s, remove own: %s\n", error(madvise(shared + PAGE, PAGE, MADV_REMOVE)), error(madvise(at, PAGE, MADV_REMOVE)));
    char byte;
    pread(f, &byte, 1, PAGE + 7);
    printf("removed: %d %d %d\n", look(shared), look(shared + PAGE), byte);
    printf("unknown: %s\n", error(madvise(at, PAGE, 7777)));
    struct stat status;
    fstat(f, &status);
    printf("room: %s\n", status.st_blocks < 24 ? "less" : "as before");
}

static void others(void) {
    int zero = open("/dev/zero", O_RDWR);
    unsigned char *own = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    unsigned char *shared = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
    printf("zero: %d %d %d\n", store(own + 10, 1), store(shared + 10, 2), look(own + 11));
    if (fork() == 0) {
        shared[20] = own[20] = 9;
        _exit(0);
    }
    wait(0);
    printf("from the child: %d %d\n", look(shared + 20), look(own + 20));
    unsigned char *low = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    printf("low: %d\n", (unsigned long)low < 1ul << 31);
    int sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
    ftruncate(sealed, PAGE);
    fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE);
    void *writable = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, sealed, 0);
    printf("sealed: %s\n", error(writable == MAP_FAILED ? -1 : 0));
    void *readable = mmap(0, PAGE, PROT_READ, MAP_SHARED, sealed, 0);
    printf("for reading: %s", error(readable == MAP_FAILED ? -1 : 0));
    printf(", to be written: %s\n", readable == MAP_FAILED ? "-" : error(mprotect(readable, PAGE, PROT_READ | PROT_WRITE)));
    char name[] = "/tmp/mapped-XXXXXX";
    int only = mkstemp(name);
    ftruncate(only, PAGE);
    int read_only = open(name, O_RDONLY);
    void *at = mmap((void *)0x300000000000, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, read_only, 0);
    printf("read only: %s", error(mprotect(at, PAGE, PROT_READ | PROT_WRITE)));
    printf(", %s\n", error(mmap(0, PAGE, PROT_WRITE, MAP_SHARED, read_only, 0) == MAP_FAILED ? -1 : 0));
    unlink(name);
    // How it is told that the file is gone, asked in three ways.
    int self = open("/proc/self", O_RDONLY | O_DIRECTORY);
    chdir("/proc/self");
    int maps[] = {open("/proc/self/maps", O_RDONLY), openat(self, "maps", O_RDONLY), open("maps", O_RDONLY)};
    for (int i = 0; i < 3; i++) {
        static char text[1 << 16];
        long length = 0, got;
        while ((got = read(maps[i], text + length, sizeof text - 1 - (size_t)length)) > 0) length += got;
        text[length] = 0;
        char *line = strstr(text, "300000000000-");
        char *end = line ? strchr(line, '\n') : 0;
        if (end) *end = 0;
        char *slash = line ? strchr(line, '/') : 0;
        printf("maps: %.40s %s\n", line ? line : "-", slash ? slash + strlen("/tmp/mapped-XXXXXX") : "-");
    }
    chdir("/");
    printf("duplicate: %s\n", error(mremap(at, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0));
    unsigned char *before = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(before, 4, 2 * PAGE);
    unsigned char *after = (void *)syscall(SYS_mremap, before, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | 4, 0);
    printf("left behind: %d %d\n", look(before), look(after + PAGE));
    unsigned char *two = mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(two + 2 * PAGE, 2 * PAGE);
    printf("partly: %s", error(mprotect(two, 3 * PAGE, PROT_READ | PROT_WRITE)));
    munmap(two + PAGE, PAGE);
    printf(", %s", error(mprotect(two, 3 * PAGE, PROT_READ | PROT_WRITE)));
    printf(", %d\n", store(two, 1));
    printf("msync: %s", error(msync(two, 2 * PAGE, MS_SYNC)));
    printf(" %s", error(msync(two, PAGE, MS_SYNC | MS_ASYNC)));
    printf(" %s", error(msync(two, PAGE, 64)));
    printf(", mlock: %s", error(mlock(two, 2 * PAGE)));
    printf(" %s\n", error(mlock(two + 5, 10)));
}

int main(void) {
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    setvbuf(stdout, 0, _IOFBF, 1 << 16);
    grown();
    cut();
    advice();
    others();
    return 0;
}
