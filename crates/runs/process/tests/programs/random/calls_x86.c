// Random calls of one family with random flags, in a folder of its own: what each comes to. The arguments are the family and the seed.
//
// Not made here: what depends on the machine (devices, network, mounts, processors), on time, on numbers of processes and files, on
// other processes; name spaces, where a kernel that refuses them is right too; rights of others than the one who runs this; raise() of
// a signal that is ignored by default, which waits in the kernel and is taken behind one that waits in the emulated process; SIGBUS that
// is waited for, which waits there always.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static unsigned below(unsigned bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % bound);
}
#define ONE_OF(...) ({ static const long all_[] = {__VA_ARGS__}; all_[below(sizeof all_ / sizeof *all_)]; })
static long some_of(const long *bits, int count) {
    long all = 0;
    for (int i = 0; i < count; i++) if (below(3) == 0) all |= bits[i];
    return all;
}
#define SOME_OF(...) ({ static const long bits_[] = {__VA_ARGS__}; some_of(bits_, sizeof bits_ / sizeof *bits_); })

static char room[1 << 16];
static void told(const char *what, long result) {
    if (result == -1) printf("%s: %s\n", what, strerrorname_np(errno));
    else printf("%s: %ld\n", what, result);
}
static void bytes(const void *at, long length) {
    unsigned sum = 0;
    for (long i = 0; i < length; i++) sum = sum * 31 + ((const unsigned char *)at)[i];
    printf(" %08x\n", sum);
}

enum { OPEN = 8 };
static int opened[OPEN];
static int some(void) { return below(20) ? opened[below(OPEN)] : 99; }
static void keep(int descriptor) {
    if (descriptor < 0) return;
    int *place = &opened[below(OPEN)];
    if (*place >= 0) close(*place);
    // Numbers tell nothing, and are the lowest in both runs.
    *place = descriptor;
}
static const char *name(void) {
    static const char *const all[] = {"a", "b", "c", "d", "d/a", "d/b", "link", "none/x", "", "./a", "d/../b"};
    return all[below(sizeof all / sizeof *all)];
}

static void files(void) {
    const char *at = name(), *other = name();
    switch (below(26)) {
    case 0: case 1: case 2: {
        long flags = ONE_OF(O_RDONLY, O_WRONLY, O_RDWR, 3) | SOME_OF(O_CREAT, O_TRUNC, O_APPEND, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC, O_NONBLOCK);
        long f = open(at, (int)flags, 0644);
        told("open", f < 0 ? -1 : 0);
        keep((int)f);
        break;
    }
    case 3: {
        struct { uint64_t flags, mode, resolve; } how = {(uint64_t)(ONE_OF(O_RDONLY, O_RDWR, O_WRONLY) | SOME_OF(O_CREAT, O_TRUNC, O_CLOEXEC, O_PATH, 1l << 40)), (uint64_t)ONE_OF(0, 0644, 0644, 1 << 20), (uint64_t)SOME_OF(1, 4, 8, 64)};
        long f = syscall(SYS_openat2, AT_FDCWD, at, &how, ONE_OF(24, 24, 24, 8, 0, 4097));
        keep((int)f);
        told("openat2", f < 0 ? -1 : 0);
        break;
    }
    case 4: memset(room, (int)below(256), 600); told("write", write(some(), room, below(600))); break;
    case 5: { long got = read(some(), room, below(600)); told("read", got); if (got > 0) bytes(room, got); break; }
    case 6: told("pwrite", pwrite(some(), room, below(600), (long)below(5000) - (below(10) ? 0 : 5000))); break;
    case 7: { long got = pread(some(), room, below(600), (long)below(5000) - (below(10) ? 0 : 5000)); told("pread", got); if (got > 0) bytes(room, got); break; }
    case 8: case 9: {
        struct iovec parts[3] = {{room, below(100)}, {room + 200, below(100)}, {room + 400, below(20) ? below(100) : (size_t)-1}};
        long place = ONE_OF(-1, 0, 10, 4000, -2), flags = SOME_OF(1, 2, 4, 8, 16) | ONE_OF(0, 0, 0, 0, 0x100000);
        int count = (int)ONE_OF(0, 1, 2, 3, 3, -1, 1025);
        if (below(2)) told("pwritev2", pwritev2(some(), parts, count, place, (int)flags));
        else { long got = preadv2(some(), parts, count, place, (int)(flags & ~16)); told("preadv2", got); if (got > 0) bytes(room, 600); }
        break;
    }
    case 10: told("lseek", lseek(some(), (long)below(6000) - 500, (int)ONE_OF(SEEK_SET, SEEK_CUR, SEEK_END, SEEK_HOLE, SEEK_DATA, 9))); break;
    case 11: told("ftruncate", ftruncate(some(), (long)below(6000) - (below(20) ? 0 : 7000))); break;
    case 12: told("truncate", truncate(at, below(6000))); break;
    case 13: told("fallocate", fallocate(some(), (int)(SOME_OF(1, 2, 8, 16, 32) | ONE_OF(0, 0, 1024)), (long)below(4) * 4096 - (below(9) ? 0 : 1), below(3) * 4096)); break;
    case 14: told("link", linkat(AT_FDCWD, at, AT_FDCWD, other, (int)SOME_OF(AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, 1))); break;
    case 15: told("rename", syscall(SYS_renameat2, AT_FDCWD, at, AT_FDCWD, other, SOME_OF(1, 2, 16))); break;
    case 16: told("unlink", unlinkat(AT_FDCWD, at, (int)SOME_OF(AT_REMOVEDIR, 1))); break;
    case 17: told("mkdir", mkdir(at, 0755)); break;
    case 18: told("symlink", symlink(at, other)); break;
    case 19: { char to[64]; long got = readlink(at, to, below(64)); told("readlink", got); if (got > 0) bytes(to, got); break; }
    case 20: {
        struct stat status;
        long result = fstatat(AT_FDCWD, at, &status, (int)(SOME_OF(AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH) | ONE_OF(0, 0, 1)));
        told("stat", result);
        if (result == 0) printf(" %o %ld %ld\n", status.st_mode, S_ISDIR(status.st_mode) ? 0 : (long)status.st_size, S_ISDIR(status.st_mode) ? 0 : (long)status.st_nlink);
        break;
    }
    case 21: told("chmod", syscall(452, AT_FDCWD, at, ONE_OF(0644, 0600, 0755), SOME_OF(AT_SYMLINK_NOFOLLOW, 1))); break;
    case 22: told("access", syscall(SYS_faccessat2, AT_FDCWD, at, ONE_OF(0, 1, 2, 4, 7, 8), SOME_OF(AT_EACCESS, AT_SYMLINK_NOFOLLOW, 1))); break;
    case 23: {
        struct flock lock = {(short)ONE_OF(F_RDLCK, F_WRLCK, F_UNLCK, 9), (short)ONE_OF(SEEK_SET, SEEK_CUR, SEEK_END, 7), below(100), below(100), 0};
        told("lock", fcntl(some(), (int)ONE_OF(F_SETLK, F_GETLK, F_OFD_SETLK, F_SETLKW), &lock));
        break;
    }
    case 24: told("fcntl", fcntl(some(), (int)ONE_OF(F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ, 7777), ONE_OF(0, O_APPEND, O_NONBLOCK, FD_CLOEXEC))); break;
    case 25: { long f = dup3(some(), 40 + (int)below(3), (int)ONE_OF(0, O_CLOEXEC, O_APPEND)); told("dup3", f); break; }
    }
}

static void pipes(void) {
    int ends[2];
    switch (below(14)) {
    case 0: case 1: {
        long result = pipe2(ends, (int)(O_NONBLOCK | SOME_OF(O_CLOEXEC, O_DIRECT) | ONE_OF(0, 0, 0, O_APPEND)));
        told("pipe2", result);
        if (result == 0) { opened[0] = ends[0]; opened[1] = ends[1]; }
        break;
    }
    case 2: {
        long result = socketpair((int)ONE_OF(AF_UNIX, AF_UNIX, AF_UNIX, AF_INET), (int)(ONE_OF(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW) | SOCK_NONBLOCK | SOME_OF(SOCK_CLOEXEC)), (int)ONE_OF(0, 0, 0, 1, 99), ends);
        told("socketpair", result);
        if (result == 0) { opened[2] = ends[0]; opened[3] = ends[1]; }
        break;
    }
    case 3: told("send", send(some(), room, below(3000), (int)(MSG_NOSIGNAL | SOME_OF(MSG_DONTWAIT, MSG_EOR, MSG_MORE, MSG_OOB)))); break;
    case 4: { long got = recv(some(), room, below(3000), (int)(MSG_DONTWAIT | SOME_OF(MSG_PEEK, MSG_TRUNC, MSG_WAITALL))); told("recv", got); if (got > 0) bytes(room, got > 3000 ? 0 : got); break; }
    case 5: { long got = read(some(), room, below(3000)); told("read", got); if (got > 0) bytes(room, got); break; }
    case 6: told("write", write(some(), room + below(100), below(3000))); break;
    case 7: told("tee", tee(some(), some(), below(3000), (unsigned)(SPLICE_F_NONBLOCK | SOME_OF(1, 4, 8, 32)))); break;
    case 8: told("splice", splice(some(), 0, some(), 0, below(3000), (unsigned)(SPLICE_F_NONBLOCK | SOME_OF(1, 4, 8, 32)))); break;
    case 9: { struct iovec part = {room, below(500)}; told("vmsplice", vmsplice(some(), &part, 1, (unsigned)(SPLICE_F_NONBLOCK | SOME_OF(1, 4, 8, 16)))); break; }
    case 10: {
        struct pollfd ready[3] = {{some(), (short)SOME_OF(POLLIN, POLLOUT, POLLRDHUP), 0}, {some(), POLLIN | POLLOUT, 0}, {-1, POLLIN, 7}};
        struct timespec none = {0, 0};
        told("ppoll", syscall(SYS_ppoll, ready, 3, &none, 0, 8));
        printf(" %x %x %x\n", ready[0].revents, ready[1].revents, ready[2].revents);
        break;
    }
    case 11: {
        int value = (int)below(3), size = 4;
        long result = below(2) ? setsockopt(some(), SOL_SOCKET, (int)ONE_OF(SO_PASSCRED, SO_KEEPALIVE, SO_REUSEADDR, 777), &value, (socklen_t)ONE_OF(4, 4, 1)) : getsockopt(some(), SOL_SOCKET, (int)ONE_OF(SO_TYPE, SO_ERROR, SO_PASSCRED, SO_DOMAIN, 777), &value, (socklen_t *)&size);
        told("option", result);
        if (result == 0) printf(" %d %d\n", value, size);
        break;
    }
    case 12: told("shutdown", shutdown(some(), (int)ONE_OF(SHUT_RD, SHUT_WR, SHUT_RDWR, 7))); break;
    case 13: {
        int poll = epoll_create1((int)ONE_OF(0, EPOLL_CLOEXEC, 5));
        told("epoll", poll < 0 ? -1 : 0);
        if (poll < 0) break;
        struct epoll_event wanted = {(uint32_t)SOME_OF(EPOLLIN, EPOLLOUT, EPOLLET, EPOLLONESHOT), {.u64 = 77}}, found[4];
        told(" ctl", epoll_ctl(poll, (int)ONE_OF(EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL, 9), some(), &wanted));
        struct timespec none = {0, 0};
        long count = below(2) ? syscall(SYS_epoll_pwait2, poll, found, ONE_OF(4, 4, 0, -1), &none, 0, 8) : epoll_wait(poll, found, (int)ONE_OF(4, 4, 0, -1), 0);
        told(" wait", count);
        if (count > 0) printf(" %x %lu\n", found[0].events, (unsigned long)found[0].data.u64);
        close(poll);
        break;
    }
    }
}

static volatile int caught;
static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)context;
    caught++;
    printf(" got %d %d %d\n", signal, info->si_code, info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
}
static void signals(void) {
    static const int all[] = {SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH, SIGBUS, 36, 40};
    int signal = all[below(7)];
    sigset_t set, old;
    sigemptyset(&set);
    for (int i = 0; i < 7; i++) if (below(2)) sigaddset(&set, all[i]);
    switch (below(10)) {
    case 0: case 1: {
        struct sigaction action = {0}, before;
        int kind = (int)below(4);
        // What would end this is not left to its default.
        if (kind == 0) action.sa_handler = SIG_IGN;
        else action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | (int)SOME_OF(SA_RESTART, SA_NODEFER, SA_ONSTACK);
        action.sa_mask = set;
        told("sigaction", sigaction(below(12) ? signal : (int)ONE_OF(SIGKILL, 0, 65), &action, &before));
        break;
    }
    case 2: case 3: told("mask", sigprocmask((int)ONE_OF(SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK, 9), &set, &old)); break;
    case 4: told("kill", kill(getpid(), below(12) ? signal : 77)); break;
    case 5: told("raise", raise(signal == SIGWINCH ? SIGUSR1 : signal)); break;
    case 6: told("queue", sigqueue(getpid(), below(12) ? signal : 0, (union sigval){.sival_int = (int)below(100)})); break;
    case 7: {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        struct timespec none = {below(15) ? 0 : -1, 0};
        sigdelset(&set, SIGBUS);
        long taken = sigtimedwait(&set, &info, &none);
        told("take", taken);
        if (taken > 0) printf(" %d %d\n", info.si_signo, info.si_code);
        break;
    }
    case 8: {
        sigpending(&set);
        printf("pending:");
        for (int i = 0; i < 7; i++) printf(" %d", sigismember(&set, all[i]));
        printf("\n");
        break;
    }
    case 9: {
        static char stack[3][1 << 14];
        stack_t wanted = {.ss_sp = stack[below(3)], .ss_flags = (int)(ONE_OF(0, 0, SS_DISABLE, SS_ONSTACK, 3, 8) | ONE_OF(0, 0, 1l << 31)), .ss_size = (size_t)ONE_OF(1 << 14, 1 << 14, 100)}, before;
        memset(&before, 0, sizeof before);
        told("stack", sigaltstack(below(3) ? &wanted : 0, &before));
        printf(" %x %lu\n", (unsigned)before.ss_flags, (unsigned long)before.ss_size);
        break;
    }
    }
}

static void children(void) {
    int status = -1;
    siginfo_t info;
    memset(&info, 0x11, sizeof info);
    fflush(stdout);
    switch (below(8)) {
    case 0: case 1: {
        long signal = ONE_OF(SIGCHLD, SIGCHLD, 0), flags = SOME_OF(CLONE_UNTRACED, CLONE_IO, CLONE_SYSVSEM) & ~CLONE_SYSVSEM;
        int place = 0;
        if (below(4) == 0) flags |= CLONE_PARENT_SETTID;
        long child = syscall(SYS_clone, flags | signal, 0, &place, 0, 0);
        if (child == 0) _exit((int)below(50));
        told("clone", child < 0 ? -1 : place == child);
        // Ended before anything is asked.
        if (child > 0) waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | __WALL);
        break;
    }
    case 2: case 3: {
        long waited = waitpid(-1, &status, (int)(WNOHANG | SOME_OF(__WALL, __WCLONE, WUNTRACED, WCONTINUED) | ONE_OF(0, 0, 0, 1 << 20)));
        told("wait", waited > 0 ? 1 : waited);
        printf(" %x\n", status);
        break;
    }
    case 4: {
        long waited = syscall(SYS_waitid, ONE_OF(P_ALL, P_ALL, 7), 0, &info, WNOHANG | SOME_OF(WEXITED, WEXITED, WNOWAIT, WSTOPPED, __WALL), 0);
        told("waitid", waited);
        printf(" %x %x %x %d\n", info.si_signo, info.si_code, info.si_status, info.si_pid != 0);
        break;
    }
    case 5: told("clone", syscall(SYS_clone, ONE_OF(CLONE_SIGHAND | SIGCHLD, CLONE_THREAD | SIGCHLD, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD), 0, 0, 0, 0)); break;
    case 6: told("unshare", unshare((int)SOME_OF(CLONE_FILES, CLONE_FS, CLONE_SYSVSEM, 1))); break;
    case 7: told("prctl", prctl((int)ONE_OF(PR_GET_DUMPABLE, PR_SET_KEEPCAPS, PR_GET_KEEPCAPS, PR_GET_NO_NEW_PRIVS, 4711), below(3), 0, 0, 0)); break;
    }
}

static void limits(void) {
    static const int all[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_RSS, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, 99};
    int which = all[below(8)];
    struct rlimit wanted = {(rlim_t)ONE_OF(1 << 26, 1 << 28, 1 << 30, RLIM_INFINITY), (rlim_t)ONE_OF(1 << 28, 1 << 30, RLIM_INFINITY)}, before = {1, 1};
    if (which == RLIMIT_NOFILE) wanted.rlim_cur = 200, wanted.rlim_max = below(2) ? 300 : 100;
    long result = syscall(SYS_prlimit64, below(10) ? 0 : getpid(), which, below(2) ? &wanted : 0, &before);
    told("limit", result);
    if (result == 0 && which != RLIMIT_NOFILE && which != RLIMIT_CORE) printf(" %lx %lx\n", (long)before.rlim_cur, (long)before.rlim_max);
    if (below(3) == 0) {
        void *at = mmap(0, (size_t)ONE_OF(1 << 20, 1 << 27, 1 << 29), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        told("room", at == MAP_FAILED ? -1 : 0);
        // Kept: it counts.
    }
}

static void times(void) {
    struct timespec at = {(long)ONE_OF(0, 0, -1), (long)ONE_OF(0, 1000, -1, 1000000000)}, left = {7, 7};
    switch (below(7)) {
    case 0: told("nanosleep", nanosleep(&at, &left)); break;
    case 1: told("clock_nanosleep", clock_nanosleep((clockid_t)ONE_OF(0, 1, 7, 3, 44), (int)ONE_OF(0, 1, 1), &at, &left)); break;
    case 2: told("getres", syscall(SYS_clock_getres, ONE_OF(0, 1, 2, 3, 4, 5, 6, 7, 44), &left)); break;
    case 3: { long f = timerfd_create((int)ONE_OF(0, 1, 7, 44), (int)(TFD_NONBLOCK | SOME_OF(TFD_CLOEXEC, 1))); keep((int)f); told("timerfd", f < 0 ? -1 : 0); break; }
    case 4: {
        struct itimerspec wanted = {{0, 0}, {(long)ONE_OF(0, 1000, -1), (long)ONE_OF(0, 0, 2000000000)}}, before = {{5, 5}, {5, 5}};
        told("settime", timerfd_settime(some(), (int)ONE_OF(0, 1, 77), &wanted, &before));
        break;
    }
    case 5: { unsigned long count; told("read", read(some(), &count, (size_t)ONE_OF(8, 8, 4))); break; }
    case 6: { long f = eventfd(below(5), (int)(EFD_NONBLOCK | SOME_OF(EFD_SEMAPHORE, EFD_CLOEXEC, 2))); keep((int)f); told("eventfd", f < 0 ? -1 : 0); break; }
    }
}

static int semaphore = -1;
static void semaphores(void) {
    if (semaphore < 0) semaphore = semget(IPC_PRIVATE, 3, 0600);
    struct sembuf all[3];
    for (int i = 0; i < 3; i++) all[i] = (struct sembuf){(unsigned short)below(below(20) ? 3 : 5), (short)((int)below(7) - 3), (short)(IPC_NOWAIT | SOME_OF(SEM_UNDO))};
    union { int value; unsigned short *array; } argument;
    unsigned short values[3] = {(unsigned short)below(5), (unsigned short)below(5), 1};
    switch (below(5)) {
    case 0: case 1: told("semop", semop(semaphore, all, (size_t)ONE_OF(1, 2, 3, 0, 5000))); break;
    case 2: argument.value = (int)below(9); told("set", semctl(semaphore, (int)below(4), (int)ONE_OF(SETVAL, GETVAL, GETPID + 0 * 1, GETNCNT, GETZCNT, 999) == GETPID ? GETVAL : SETVAL, argument)); break;
    case 3: argument.array = values; told("all", semctl(semaphore, 0, SETALL, argument)); break;
    case 4: argument.array = values; told("get", semctl(semaphore, 0, GETALL, argument)); printf(" %d %d %d\n", values[0], values[1], values[2]); break;
    }
}

int main(int argc, char **argv) {
    static void (*const families[])(void) = {files, pipes, signals, children, limits, times, semaphores};
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    void (*family)(void) = families[seed % 7];
    state = 0x9e3779b97f4a7c15u ^ ((uint64_t)seed << 20);
    for (int i = 0; i < 20; i++) below(2);
    char folder[] = "/tmp/random-calls-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder)) return 2;
    umask(022);
    memset(opened, -1, sizeof opened);
    for (unsigned i = 0; i < sizeof room; i++) room[i] = (char)(i * 7 >> 2);
    signal(SIGPIPE, SIG_IGN);
    // Signals that would end this have a handler in any case.
    if (family == signals)
        for (int signal = 1; signal < 65; signal++) {
            struct sigaction action = {0};
            action.sa_sigaction = on_signal;
            action.sa_flags = SA_SIGINFO;
            if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGBUS || signal == 36 || signal == 40) sigaction(signal, &action, 0);
        }
    for (int round = 0; round < 80; round++) family();
    if (semaphore >= 0) semctl(semaphore, 0, IPC_RMID);
    fflush(stdout);
    if (chdir("/") == 0) {
        char command[64];
        sprintf(command, "rm -rf %s", folder);
        if (fork() == 0) {
            execl("/bin/sh", "sh", "-c", command, (char *)0);
            _exit(1);
        }
        wait(0);
    }
    return 0;
}
