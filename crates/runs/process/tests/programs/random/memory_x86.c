// Random calls on one window of memory: what each comes to, and then what is there. The argument is the seed.
//
// Not made here, since kernels differ or promise nothing: huge pages, memory keys, merging and collapsing (MADV_MERGEABLE,
// MADV_HUGEPAGE, MADV_COLLAPSE), guards (MADV_GUARD_INSTALL), poisoning, MADV_FREE of pages that are read afterwards, mremap of
// ranges that were mapped by several calls, PROT_EXEC alone (which processors with memory keys keep from being read), the number of mappings, limits, other threads, changes by other processes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 24, FILES = 3, PAGE = 4096 };
static char *const window = (char *)0x200000000000;
static int files[FILES];
// Which mapping a page belongs to, as far as calls made it: ranges of one number are safe to move.
static int origin[PAGES + 8];
static int origins;

static uint64_t state;
static unsigned below(unsigned bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % bound);
}

static sigjmp_buf back;
static volatile int caught, code;
static volatile uintptr_t where;
static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    caught = signal;
    code = info->si_code;
    where = (uintptr_t)info->si_addr;
    siglongjmp(back, 1);
}

static unsigned char read_byte(volatile unsigned char *at) {
    caught = 0;
    if (sigsetjmp(back, 1) == 0) return *at;
    return 0;
}
static void write_byte(volatile unsigned char *at, unsigned char value) {
    caught = 0;
    if (sigsetjmp(back, 1) == 0) *at = value;
}

static void look(const char *who) {
    for (int page = 0; page < PAGES; page++) {
        unsigned char *at = (unsigned char *)window + page * PAGE;
        printf("%s %d:", who, page);
        for (int part = 0; part < 3; part++) {
            unsigned char byte = read_byte(at + part * 1365);
            if (caught) {
                printf(" %d/%d/%lx", caught, code, (long)(where - (uintptr_t)window));
                break;
            }
            printf(" %d", byte);
        }
        printf("\n");
    }
}

static const int kinds[] = {MAP_PRIVATE, MAP_PRIVATE, MAP_SHARED, MAP_SHARED, MAP_SHARED_VALIDATE, 0};
static int protection(void) {
    static const int all[] = {PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE,
                              PROT_WRITE, PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC};
    return all[below(sizeof all / sizeof *all)];
}
static void own(int first, int count, int number) {
    for (int page = first; page < first + count && page < PAGES; page++)
        if (page >= 0) origin[page] = number;
}
// Something was said about pages: what was one is no longer one with what is beside it.
static void mark(int first, int count) {
    origins++;
    for (int page = first; page < first + count && page < PAGES; page++)
        if (origin[page]) origin[page] = origin[page] * 1000003 + origins;
}
static int alike(int first, int count) {
    if (first + count > PAGES) return 0;
    for (int page = first; page < first + count; page++)
        if (origin[page] != origin[first] || !origin[page]) return 0;
    return 1;
}
static void told(const char *what, long result) {
    if (result == -1)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else if ((uintptr_t)result >= (uintptr_t)window && (uintptr_t)result < (uintptr_t)window + (PAGES + 8) * PAGE)
        printf("%s: +%lx\n", what, (long)((uintptr_t)result - (uintptr_t)window));
    else
        printf("%s: %s\n", what, (uintptr_t)result > 4096 ? "elsewhere" : "done");
}

static void map(int page, int count) {
    int protections = protection(), flags = kinds[below(6)];
    if (below(10)) flags |= below(8) ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    if (below(6) == 0) flags |= MAP_NORESERVE;
    if (below(8) == 0) flags |= MAP_POPULATE;
    if (below(12) == 0) flags |= MAP_LOCKED;
    if (below(20) == 0) flags |= MAP_GROWSDOWN;
    int file = -1;
    if (below(2)) flags |= MAP_ANONYMOUS; else file = files[below(FILES)];
    if (below(30) == 0) file = 77;
    long at = (long)window + page * PAGE + (below(24) ? 0 : 512), length = count * PAGE - (below(4) ? 0 : below(PAGE));
    long offset = below(4) * PAGE + (below(30) ? 0 : 100);
    if (below(40) == 0) length = 0;
    long result = syscall(SYS_mmap, at, length, protections, flags, file, offset);
    told("mmap", result);
    if (result != -1) own(page, count, ++origins);
}

static void move(int page, int count) {
    int flags = below(8), target = below(PAGES), fresh = 1 + below(5);
    long old = (long)window + page * PAGE, wish = (long)window + target * PAGE + (below(16) ? 0 : 5);
    long length = below(30) ? count * PAGE : 0;
    if (flags & MREMAP_FIXED || flags & 4) {
        if (!alike(page, length ? count : 1)) return;
        // What is left behind in the window after the target moves may be anything; the target itself must be in it.
        if (target + fresh > PAGES) return;
    } else {
        if (!alike(page, length ? count : 1)) return;
        flags &= ~MREMAP_MAYMOVE;
        // Growing in place joins what lies behind to what was there.
    }
    if (flags & 4 && !(flags & MREMAP_FIXED)) return;
    long result = syscall(SYS_mremap, old, length, fresh * PAGE, flags, wish);
    told("mremap", result);
    if (result == -1) {
        // A move that fails late has already cleared its target.
        if (flags & MREMAP_FIXED) {
            munmap(window + target * PAGE, fresh * PAGE);
            own(target, fresh, 0);
        }
        return;
    }
    int number = origin[page];
    if (flags & MREMAP_FIXED) {
        if (!(flags & 4) && length) own(page, count, 0);
        own(target, fresh, ++origins);
    } else {
        if (fresh < count) own(page + fresh, count - fresh, 0);
        else own(page, fresh, number);
    }
}

int main(int argc, char **argv) {
    state = 0x9e3779b97f4a7c15u ^ ((uint64_t)strtoull(argc > 1 ? argv[1] : "1", 0, 10) << 20);
    for (int i = 0; i < 20; i++) below(2);
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    for (int i = 0; i < FILES; i++) {
        if (i < 2) {
            files[i] = memfd_create("random", 0);
        } else {
            char name[] = "/tmp/random-memory-XXXXXX";
            files[i] = mkstemp(name);
            if (below(2)) {
                // One that can only be read.
                int both = files[i];
                files[i] = open(name, O_RDONLY);
                for (int page = 0; page < 3; page++) {
                    char bytes[PAGE];
                    memset(bytes, 200 + page, PAGE);
                    if (write(both, bytes, PAGE) != PAGE) return 2;
                }
                close(both);
            }
            unlink(name);
        }
        ftruncate(files[i], below(5) * PAGE + below(2) * 700);
    }
    for (int round = 0; round < 60; round++) {
        int page = below(PAGES), count = 1 + below(5);
        char *at = window + page * PAGE;
        if (page + count > PAGES) count = PAGES - page;
        long length = count * PAGE;
        switch (below(16)) {
        case 0: case 1: case 2: case 3:
            map(page, count);
            break;
        case 4:
            told("munmap", syscall(SYS_munmap, (long)at + (below(16) ? 0 : 9), below(20) ? length : 0));
            own(page, count, 0);
            break;
        case 5: case 6:
            told("mprotect", syscall(SYS_mprotect, (long)at + (below(16) ? 0 : 9), below(20) ? length : 0,
                                     below(20) ? protection() : 0x40));
            mark(page, count);
            break;
        case 7: case 8:
            move(page, count);
            break;
        case 9: {
            static const int advice[] = {0, 1, 2, 4, 4, 4, 9, 9, 10, 11, 16, 17, 18, 18, 19, 20, 21, 22, 23, 24, 30, 99};
            int which = advice[below(sizeof advice / sizeof *advice)];
            char text[32];
            sprintf(text, "madvise %d", which);
            told(text, syscall(SYS_madvise, (long)at + (below(16) ? 0 : 9), below(20) ? length : 0, which));
            mark(page, count);
            break;
        }
        case 10: {
            static const int flags[] = {MS_SYNC, MS_ASYNC, MS_INVALIDATE, MS_SYNC | MS_ASYNC, 16, 0};
            told("msync", syscall(SYS_msync, (long)at + (below(16) ? 0 : 9), length, flags[below(6)]));
            break;
        }
        case 11:
            if (below(2)) told("mlock", syscall(SYS_mlock, (long)at + (below(4) ? 0 : 9), length));
            else told("munlock", syscall(SYS_munlock, (long)at + (below(4) ? 0 : 9), length));
            mark(page, count);
            break;
        case 12:
            told("ftruncate", ftruncate(files[below(FILES)], below(6) * PAGE + (below(3) ? 0 : below(PAGE))));
            break;
        case 13: {
            char bytes[600];
            memset(bytes, 100 + round, sizeof bytes);
            told("pwrite", pwrite(files[below(FILES)], bytes, sizeof bytes, below(6 * PAGE)));
            break;
        }
        case 14:
            for (int i = 0; i < 6; i++) {
                write_byte((unsigned char *)window + below(PAGES * PAGE), (unsigned char)(round + i));
                printf("store: %d/%d\n", caught, caught ? code : 0);
            }
            break;
        case 15:
            fflush(stdout);
            if (below(3) == 0) {
                pid_t child = fork();
                if (child == 0) {
                    look("child");
                    fflush(stdout);
                    _exit(0);
                }
                waitpid(child, 0, 0);
            }
            break;
        }
        if (round % 6 == 5) look("page");
    }
    return 0;
}
