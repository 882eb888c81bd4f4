// Programs that do harm, one a name: `hostile CASE FOLDER PID PORT ABSTRACT TERMINAL KEY MARK`. Each tries once, says how it
// went, and ends. FOLDER is marked, PID a victim, PORT a listener on loopback for TCP and UDP, ABSTRACT the name of an abstract
// socket, TERMINAL a terminal's path, KEY that of shared memory, MARK the address of a number in the victim.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *folder, *abstract, *terminal;
static int victim, port, key;
static unsigned long mark;
static char path[4096], other[4096];

static const char *in(const char *name) { snprintf(path, sizeof path, "%s/%s", folder, name); return path; }
static const char *out(const char *name) { snprintf(other, sizeof other, "%s/%s", folder, name); return other; }
static int overwrite(const char *name) {
    int file = open(name, O_WRONLY);
    if (file < 0) return -1;
    int done = write(file, "HARM", 4) == 4 ? 0 : -1;
    close(file);
    return done;
}
static int each(const char *name, const struct stat *s, int kind, struct FTW *at) {
    (void)s, (void)at;
    return kind == FTW_DP ? rmdir(name) : unlink(name);
}
static int to(int family, int type, struct sockaddr *address, socklen_t length) {
    int s = socket(family, type, 0);
    if (s < 0) return -1;
    if (connect(s, address, length) < 0) return -1;
    return send(s, "HARM", 4, 0) == 4 ? 0 : -1;
}
static struct sockaddr_in loopback(void) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}
static int to_loopback(int type) {
    struct sockaddr_in a = loopback();
    return to(AF_INET, type, (struct sockaddr *)&a, sizeof a);
}
static int to_unix(const char *name, int is_abstract) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path + is_abstract, name, sizeof a.sun_path - 2);
    return to(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name));
}
static int listens(int type) {
    struct sockaddr_in a = loopback();
    a.sin_port = htons(port + 1);
    int s = socket(AF_INET, type, 0), on = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof a) < 0) return -1;
    if (type == SOCK_STREAM && listen(s, 1) < 0) return -1;
    usleep(300000);
    return 0;
}
static int listens_unix(const char *name, int is_abstract) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path + is_abstract, name, sizeof a.sun_path - 2);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name);
    if (s < 0 || bind(s, (struct sockaddr *)&a, length) < 0 || listen(s, 1) < 0) return -1;
    usleep(300000);
    return 0;
}
// Goes on as another program, a file in memory, which does this harm.
static int from_memory(char **words) {
    static char block[1 << 20];
    int from = open("/proc/self/exe", O_RDONLY), file = memfd_create("program", 0);
    ssize_t length;
    while ((length = read(from, block, sizeof block)) > 0) if (write(file, block, length) != length) return -1;
    words[1] = "overwrite";
    return syscall(SYS_execveat, file, "", words, environ, AT_EMPTY_PATH);
}

// Floods: these are tried in the jail alone.
static int flood_of_processes(void) {
    for (int i = 0; i < 12; i++) fork();
    sleep(20);
    return 0;
}
static int flood_of_memory(void) {
    for (int i = 0; i < 4096; i++) memset(malloc(1 << 20), 1, 1 << 20);
    return 0;
}
static int flood_of_children(void) {
    for (int i = 0; i < 8; i++) if (!fork()) { memset(malloc(32 << 20), 1, 32 << 20); sleep(20); }
    sleep(20);
    return 0;
}
static int flood_of_bytes(void) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (int n = 0; n < 64; n++) {
        char name[32];
        snprintf(name, sizeof name, "flood%d", n);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        for (int i = 0; file >= 0 && i < 64; i++) if (write(file, block, sizeof block) < 0) break;
        close(file);
        usleep(2000);
    }
    return 0;
}
static int flood_of_files(void) {
    for (int n = 0; n < 100000; n++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", n);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    return 0;
}
static int flood_of_nameless_files(void) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (int n = 0; n < 1000; n++) {
        int file = memfd_create("flood", 0);
        if (file < 0) return -1;
        for (int i = 0; i < 8; i++) if (write(file, block, sizeof block) < 0) break;
    }
    return 0;
}
/* Memory that no process shows: at most four times what a run of the test may have, so that a jail with a hole does no harm. */
static int flood_of_shared_memory(void) {
    for (int n = 0; n < 32; n++) {
        char *at = mmap(0, 8 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return -1;
        memset(at, 1, 8 << 20);
        madvise(at, 8 << 20, MADV_DONTNEED);
    }
    return 0;
}
static int flood_of_segments(void) {
    for (int n = 0; n < 32; n++) {
        int segment = shmget(IPC_PRIVATE, 8 << 20, IPC_CREAT | 0600);
        char *at = segment < 0 ? (char *)-1 : shmat(segment, 0, 0);
        if (at == (char *)-1) return -1;
        memset(at, 1, 8 << 20);
        shmdt(at);
    }
    return 0;
}
static int flood_of_text(void) {
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 2048; i++) if (write(1, block, sizeof block) < 0) return -1;
    return 0;
}

static int harm(const char *name) {
#define CASE(words) if (!strcmp(name, words))
    CASE("unlink-absolute") return unlink(in("a"));
    CASE("unlink-relative") {
        char *up = strdup("../../../../../../../../../../../../../../..");
        snprintf(other, sizeof other, "%s%s", up, in("a"));
        return unlink(other);
    }
    CASE("rename-absolute") { in("a"); return rename(path, out("moved")); }
    CASE("overwrite") return overwrite(in("a"));
    CASE("truncate-by-open") return open(in("a"), O_RDONLY | O_TRUNC) < 0 ? -1 : 0;
    CASE("truncate") return truncate(in("a"), 0);
    CASE("create") return open(in("new"), O_CREAT | O_WRONLY, 0600) < 0 ? -1 : 0;
    CASE("make-folder") return mkdir(in("newfolder"), 0700);
    CASE("remove-folder") return rmdir(in("empty"));
    CASE("remove-tree") return nftw(folder, each, 8, FTW_DEPTH | FTW_PHYS);
    CASE("make-fifo") return mkfifo(in("fifo"), 0600);
    CASE("chmod") return chmod(in("a"), 0777);
    CASE("fchmod") { int file = open(in("a"), O_RDONLY); return fchmod(file, 0777); }
    CASE("times") { struct timeval t[2] = {{1, 0}, {1, 0}}; return utimes(in("a"), t); }
    CASE("attribute") return setxattr(in("a"), "user.harm", "1", 1, 0);
    CASE("flags") {
        int file = open(in("a"), O_RDONLY), flags = 0;
        if (ioctl(file, FS_IOC_GETFLAGS, &flags) < 0) return -1;
        flags |= FS_NODUMP_FL;
        return ioctl(file, FS_IOC_SETFLAGS, &flags);
    }
    CASE("symbolic-link") { unlink("link"); return symlink(in("a"), "link") < 0 ? -1 : overwrite("link"); }
    CASE("symbolic-link-race") {
        // The name is a file when it is looked at and a link when it is opened, if the race is won.
        close(open("raced", O_CREAT | O_WRONLY, 0600));
        if (symlink(in("a"), "racer") < 0) return -1;
        int child = fork();
        if (!child) for (int i = 0; i < 20000; i++) syscall(SYS_renameat2, AT_FDCWD, "raced", AT_FDCWD, "racer", RENAME_EXCHANGE);
        int won = -1;
        for (int i = 0; i < 400; i++) {
            struct stat s;
            if (lstat("raced", &s) == 0 && S_ISREG(s.st_mode) && overwrite("raced") == 0) won = 0;
        }
        kill(child, SIGKILL);
        waitpid(child, 0, 0);
        // A race need not be won: the link itself is the same file.
        return (overwrite("racer") == 0) | (overwrite("raced") == 0) ? 0 : won;
    }
    CASE("hard-link") { unlink("hard"); return link(in("a"), "hard") < 0 ? -1 : overwrite("hard"); }
    CASE("hard-link-race") {
        // The name is a file with one name when it is looked at, and the marked one when it is opened, if the race is won.
        close(open("raced", O_CREAT | O_WRONLY, 0600));
        if (link(in("a"), "racer") < 0) return -1;
        int child = fork();
        if (!child) for (int i = 0; i < 20000; i++) syscall(SYS_renameat2, AT_FDCWD, "raced", AT_FDCWD, "racer", RENAME_EXCHANGE);
        for (int i = 0; i < 400; i++) {
            struct stat s;
            if (stat("raced", &s) == 0 && s.st_nlink == 1) overwrite("raced");
        }
        kill(child, SIGKILL);
        waitpid(child, 0, 0);
        return (overwrite("racer") == 0) | (overwrite("raced") == 0) ? 0 : -1;
    }
    CASE("hard-link-by-descriptor") {
        snprintf(other, sizeof other, "/proc/self/fd/%d", open(in("a"), O_RDONLY));
        return linkat(AT_FDCWD, other, AT_FDCWD, "by-descriptor", AT_SYMLINK_FOLLOW) < 0 ? -1 : overwrite("by-descriptor");
    }
    CASE("open-again") {
        snprintf(other, sizeof other, "/proc/self/fd/%d", open(in("a"), O_RDONLY));
        return overwrite(other);
    }
    CASE("map") {
        char *at = mmap(0, 4, PROT_READ | PROT_WRITE, MAP_SHARED, open(in("a"), O_RDWR), 0);
        if (at == MAP_FAILED) return -1;
        memcpy(at, "HARM", 4);
        return msync(at, 4, MS_SYNC);
    }
    CASE("proc-root") { snprintf(other, sizeof other, "/proc/self/root%s", in("a")); return unlink(other); }
    CASE("proc-victim-root") { snprintf(other, sizeof other, "/proc/%d/root%s", victim, in("a")); return unlink(other); }
    CASE("proc-victim-cwd") { snprintf(other, sizeof other, "/proc/%d/cwd/a", victim); return unlink(other); }
    CASE("inherited-descriptor") return pwrite(57, "HARM", 4, 0) == 4 ? 0 : -1;
    CASE("shared-memory-file") {
        snprintf(other, sizeof other, "/dev/shm/%s", abstract);
        return overwrite(other);
    }
    CASE("shared-memory") {
        char *at = shmat(shmget(key, 4096, 0600), 0, 0);
        if (at == (void *)-1) return -1;
        strcpy(at, "HARM");
        return 0;
    }
    CASE("signal") return kill(victim, SIGUSR1);
    CASE("signal-group") return kill(-victim, SIGUSR1);
    CASE("signal-thread") return syscall(SYS_tgkill, victim, victim, SIGUSR1);
    CASE("signal-by-descriptor") {
        int process = syscall(SYS_pidfd_open, victim, 0);
        return syscall(SYS_pidfd_send_signal, process, SIGUSR1, 0, 0);
    }
    CASE("signal-by-owner") {
        int ends[2];
        if (pipe(ends) < 0 || fcntl(ends[0], F_SETOWN, victim) < 0) return -1;
        fcntl(ends[0], F_SETSIG, SIGUSR1);
        fcntl(ends[0], F_SETFL, O_ASYNC);
        write(ends[1], "x", 1);
        return 0;
    }
    CASE("signal-everybody") return kill(-1, SIGUSR1);
    CASE("trace") {
        if (ptrace(PTRACE_ATTACH, victim, 0, 0) < 0) return -1;
        waitpid(victim, 0, 0);
        int done = ptrace(PTRACE_POKEDATA, victim, (void *)mark, (void *)0x4d524148ul);
        ptrace(PTRACE_DETACH, victim, 0, 0);
        return done;
    }
    CASE("proc-mem") {
        snprintf(other, sizeof other, "/proc/%d/mem", victim);
        int file = open(other, O_RDWR);
        return file < 0 || pwrite(file, "HARM", 4, mark) != 4 ? -1 : 0;
    }
    CASE("process-memory") {
        struct iovec ours = {"HARM", 4}, theirs = {(void *)mark, 4};
        return process_vm_writev(victim, &ours, 1, &theirs, 1, 0) == 4 ? 0 : -1;
    }
    CASE("priority") return setpriority(PRIO_PROCESS, victim, 13);
    CASE("limits") { struct rlimit l = {77, 77}; return prlimit(victim, RLIMIT_NOFILE, &l, 0); }
    CASE("affinity") { cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); return sched_setaffinity(victim, sizeof s, &s); }
    CASE("scheduling") { struct sched_param p = {0}; return sched_setscheduler(victim, SCHED_BATCH, &p); }
    CASE("io-priority") return syscall(SYS_ioprio_set, 1, victim, 2 << 13 | 7);
    CASE("proc-victim-score") {
        snprintf(other, sizeof other, "/proc/%d/oom_score_adj", victim);
        int file = open(other, O_WRONLY);
        return file < 0 || write(file, "777", 3) != 3 ? -1 : 0;
    }
    CASE("proc-victim-output") {
        snprintf(other, sizeof other, "/proc/%d/fd/1", victim);
        int file = open(other, O_WRONLY);
        return file < 0 || write(file, "HARM\n", 5) != 5 ? -1 : 0;
    }
    CASE("descriptor-of-victim") {
        int file = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, victim, 0), 1, 0);
        return file < 0 || write(file, "HARM\n", 5) != 5 ? -1 : 0;
    }
    CASE("tcp") return to_loopback(SOCK_STREAM);
    CASE("udp") return to_loopback(SOCK_DGRAM);
    CASE("unix-socket") return to_unix(in("socket"), 0);
    CASE("abstract-socket") return to_unix(abstract, 1);
    CASE("listen") return listens(SOCK_STREAM);
    CASE("listen-udp") return listens(SOCK_DGRAM);
    CASE("listen-unix") return listens_unix(in("listening"), 0);
    CASE("listen-abstract") { snprintf(other, sizeof other, "%s-listening", abstract); return listens_unix(other, 1); }
    CASE("netlink") return socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) < 0 ? -1 : 0;
    CASE("vsock") return socket(40, SOCK_STREAM, 0) < 0 ? -1 : 0;
    CASE("packet") return socket(AF_PACKET, SOCK_RAW, 0) < 0 ? -1 : 0;
    CASE("io-uring") { char parameters[128] = {0}; return syscall(SYS_io_uring_setup, 4, parameters) < 0 ? -1 : 0; }
    CASE("userfaultfd") return syscall(SYS_userfaultfd, 0) < 0 ? -1 : 0;
    CASE("keys") return syscall(SYS_add_key, "user", "harm", "x", 1, -4) < 0 ? -1 : 0;
    CASE("bpf") { char attributes[128] = {0}; return syscall(SYS_bpf, 0, attributes, 64) < 0 ? -1 : 0; }
    CASE("device-mode") { struct stat s; return stat("/dev/full", &s) < 0 ? -1 : chmod("/dev/full", s.st_mode & 07777); }
    CASE("device-times") return utimes("/dev/full", 0);
    CASE("mount") return unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -1 : mount("x", folder, "tmpfs", 0, "");
    // The calls that make mounts since Linux 5.2, none of which is made where they work: they end with what was asked for.
    CASE("file-system") return syscall(SYS_fsopen, "tmpfs", 0) < 0 ? -1 : 0;
    CASE("clone-tree") return syscall(SYS_open_tree, AT_FDCWD, folder, 1) < 0 ? -1 : 0;
    CASE("mount-flags") { unsigned long long a[4] = {0}; return syscall(SYS_mount_setattr, AT_FDCWD, folder, 0, a, sizeof a); }
    CASE("spaces-of-victim") return setns(syscall(SYS_pidfd_open, victim, 0), CLONE_NEWNS | CLONE_NEWUTS);
    CASE("handle") {
        struct file_handle *handle = calloc(1, sizeof *handle + 128);
        int mount;
        handle->handle_bytes = 128;
        name_to_handle_at(AT_FDCWD, in("a"), handle, &mount, 0);
        return open_by_handle_at(AT_FDCWD, handle, O_WRONLY) < 0 ? -1 : 0;
    }
    CASE("host-name") { char name[65]; return gethostname(name, sizeof name) < 0 ? -1 : sethostname(name, strlen(name)); }
    CASE("kernel-setting") return open("/proc/sys/kernel/hostname", O_WRONLY) < 0 ? -1 : 0;
    CASE("control-group") return mkdir("/sys/fs/cgroup/parallax-hostile", 0700);
    CASE("lease") return fcntl(open(in("a"), O_RDONLY), F_SETLEASE, F_RDLCK);
    CASE("watch-everything") return syscall(SYS_fanotify_init, 0, 0) < 0 ? -1 : 0;
    CASE("counters") { char attributes[128] = {0}; return syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0) < 0 ? -1 : 0; }
    CASE("other-convention") {
#ifdef __x86_64__
        long result;
        // unlink, by the numbers of 32-bit programs: its path is cut, but the filter must end it before that matters.
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20));
        return result > 0 ? 0 : -1;
#else
        return -1;
#endif
    }
    CASE("escape-sequence") {
        int file = open(terminal, O_WRONLY | O_NOCTTY);
        return file >= 0 && write(file, "\033]0;HARM\007", 9) == 9 ? 0 : -1;
    }
    CASE("type-at-terminal") {
        int file = open(terminal, O_RDWR | O_NOCTTY);
        return file < 0 ? -1 : ioctl(file, TIOCSTI, "H");
    }
    CASE("set-user-id") { printf("user %d\n", geteuid()); return 0; }
    CASE("left-behind") {
        if (fork()) return 0;
        setsid();
        if (fork()) _exit(0);
        usleep(200000);
        _exit(unlink(in("a")));
    }
    CASE("flood-of-processes") return flood_of_processes();
    CASE("flood-of-memory") return flood_of_memory();
    CASE("flood-of-children") return flood_of_children();
    CASE("flood-of-bytes") return flood_of_bytes();
    CASE("flood-of-files") return flood_of_files();
    CASE("flood-of-nameless-files") return flood_of_nameless_files();
    CASE("flood-of-shared-memory") return flood_of_shared_memory();
    CASE("flood-of-segments") return flood_of_segments();
    CASE("flood-of-text") return flood_of_text();
    CASE("no-harm") return 0;
    errno = ENOSYS;
    puts("unknown case");
    return -1;
}

// The victim: says where its number is, counts signals, and says what it counted when it reads a line.
static volatile int signals;
static volatile unsigned number = 0x11111111;
static void counted(int s) { (void)s; signals++; }
static int be_victim(void) {
    struct sigaction a = {.sa_handler = counted, .sa_flags = SA_RESTART};
    for (int s = 1; s < 32; s++) if (s != SIGKILL && s != SIGSTOP) sigaction(s, &a, 0);
    setpgid(0, 0);
    printf("%lu\n", (unsigned long)&number);
    fflush(stdout);
    char line[16];
    while (!fgets(line, sizeof line, stdin)) if (feof(stdin)) return 1;
    struct rlimit l;
    getrlimit(RLIMIT_NOFILE, &l);
    cpu_set_t s;
    sched_getaffinity(0, sizeof s, &s);
    char score[16] = "";
    read(open("/proc/self/oom_score_adj", O_RDONLY), score, 15);
    int batch = sched_getscheduler(0) == SCHED_BATCH, slow = syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 7);
    printf("%d %x %d %lu %d %d %d %d\n", signals, number, getpriority(PRIO_PROCESS, 0) == 13, (unsigned long)l.rlim_cur, CPU_COUNT(&s), batch, slow, atoi(score) == 777);
    fflush(stdout);
    return 0;
}

#ifdef PRELOADED
__attribute__((constructor)) static void preloaded(void) { if (getenv("HARM")) unlink(getenv("HARM")); }
#endif

int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "victim")) return be_victim();
    if (count < 9) return 2;
    signal(SIGXFSZ, SIG_IGN);
    folder = words[2], victim = atoi(words[3]), port = atoi(words[4]), abstract = words[5], terminal = words[6];
    key = atoi(words[7]), mark = strtoul(words[8], 0, 10);
    int done = strcmp(words[1], "program-in-memory") ? harm(words[1]) : from_memory(words);
    printf("%s\n", done < 0 ? strerror(errno) : "done");
    return 0;
}
