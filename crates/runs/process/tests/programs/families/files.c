// Files, folders and descriptors, in a folder of their own.
#include "family.h"
#include <dirent.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>
static char folder[32];
static void leave(void) {
    char command[64];
    chdir("/");
    sprintf(command, "rm -rf %s", folder);
    system(command);
}
__attribute__((constructor)) static void enter(void) {
    strcpy(folder, "/tmp/family-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder)) _exit(2);
    atexit(leave);
    umask(022);
}
static int made(const char *name, const char *text) {
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(file, text, strlen(text));
    return file;
}
static const char *contents(int file) {
    static char text[256];
    long got = pread(file, text, 255, 0);
    text[got > 0 ? got : 0] = 0;
    return text;
}

PROGRAM(nameless) {
    int file = open(".", O_TMPFILE | O_RDWR, 0600);
    printf("%s", error(file));
    write(file, "hidden", 6);
    char path[64];
    sprintf(path, "/proc/self/fd/%d", file);
    printf(" %s", error(linkat(AT_FDCWD, path, AT_FDCWD, "shown", AT_SYMLINK_FOLLOW)));
    printf(" %s\n", contents(open("shown", O_RDONLY)));
}
PROGRAM(renames) {
    close(made("a", "first")), close(made("b", "second"));
    printf("%s", error(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE)));
    printf(" %s", error(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE)));
    printf(" %s", contents(open("a", O_RDONLY)));
    printf(" %s %s\n", error(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE | RENAME_EXCHANGE)), error(rename("a", "none/b")));
}
PROGRAM(copies) {
    int from = made("from", "0123456789"), to = made("to", "");
    loff_t at = 2;
    printf("%zd", copy_file_range(from, &at, to, 0, 5, 0));
    printf(" %ld", (long)at);
    off_t offset = 1;
    printf(" %zd", sendfile(to, from, &offset, 3));
    printf(" %ld", (long)offset);
    int ends[2];
    pipe(ends);
    at = 7;
    printf(" %zd", splice(from, &at, ends[1], 0, 100, 0));
    printf(" %zd", splice(ends[0], 0, to, 0, 100, 0));
    printf(" %s %s\n", contents(to), error(copy_file_range(from, 0, to, 0, 5, 7)));
}
PROGRAM(holes) {
    int file = made("sparse", "");
    pwrite(file, "x", 1, 1 << 20);
    printf("%ld %ld", (long)lseek(file, 0, SEEK_DATA), (long)lseek(file, 1 << 20, SEEK_HOLE));
    printf(" %s", error(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 4096)));
    printf(" %d", contents(file)[0]);
    printf(" %s", error(fallocate(file, FALLOC_FL_COLLAPSE_RANGE, 1, 4096)));
    printf(" %s\n", error(lseek(file, 5 << 20, SEEK_DATA)));
}
PROGRAM(attributes) {
    int file = made("a", "x");
    char text[16] = {0}, list[256];
    printf("%s", error(fsetxattr(file, "user.color", "blue", 4, XATTR_CREATE)));
    printf(" %s", error(fsetxattr(file, "user.color", "red", 3, XATTR_CREATE)));
    long got = getxattr("a", "user.color", text, 16);
    printf(" %ld %s", got, text);
    printf(" %zd", getxattr("a", "user.color", 0, 0));
    printf(" %s", error(getxattr("a", "user.color", text, 2)));
    printf(" %d", listxattr("a", list, 256) > 0);
    printf(" %s", error(removexattr("a", "user.color")));
    printf(" %s\n", error(getxattr("a", "user.color", text, 16)));
}
PROGRAM(locks) {
    int file = made("a", "0123456789"), again = open("a", O_RDWR);
    printf("%s", error(flock(file, LOCK_EX)));
    printf(" %s", error(flock(again, LOCK_SH | LOCK_NB)));
    printf(" %s", error(flock(file, LOCK_UN)));
    struct flock lock = {F_WRLCK, SEEK_SET, 2, 3, 0};
    printf(" %s", error(fcntl(file, F_OFD_SETLK, &lock)));
    printf(" %s", error(fcntl(again, F_OFD_SETLK, &lock)));
    lock.l_type = F_UNLCK;
    fcntl(file, F_OFD_SETLK, &lock);
    lock.l_type = F_WRLCK;
    printf(" %s", error(fcntl(file, F_SETLK, &lock)));
    fflush(stdout);
    if (fork() == 0) {
        struct flock ask = {F_RDLCK, SEEK_SET, 0, 0, 0};
        fcntl(again, F_GETLK, &ask);
        printf(" %d %ld %ld %d", ask.l_type, (long)ask.l_start, (long)ask.l_len, ask.l_pid == getppid());
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    printf(" %s\n", error(lockf(again, F_TEST, 0)));
}
PROGRAM(stamps) {
    int file = made("a", "x");
    struct timespec times[2] = {{1000000000, 123456789}, {0, UTIME_OMIT}};
    printf("%s", error(futimens(file, times)));
    struct statx status;
    statx(AT_FDCWD, "a", 0, STATX_ALL, &status);
    printf(" %ld %u %d", (long)status.stx_atime.tv_sec, status.stx_atime.tv_nsec, status.stx_mtime.tv_sec > 1700000000);
    printf(" %x %lu", status.stx_mode, (unsigned long)status.stx_size);
    times[0].tv_nsec = -5;
    printf(" %s %s\n", error(futimens(file, times)), error(statx(AT_FDCWD, "a", 1 << 20, STATX_ALL, &status)));
}
PROGRAM(watches) {
    int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    inotify_add_watch(watcher, ".", IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE);
    close(made("a", "x"));
    rename("a", "b");
    unlink("b");
    char bytes[1024];
    long got = read(watcher, bytes, sizeof bytes);
    for (char *at = bytes; at < bytes + got;) {
        struct inotify_event *event = (void *)at;
        printf("%x %s %d,", event->mask, event->name, event->cookie != 0);
        at += sizeof *event + event->len;
    }
    printf(" %s\n", error(read(watcher, bytes, sizeof bytes)));
}
PROGRAM(listing) {
    char name[8];
    for (int i = 0; i < 300; i++) sprintf(name, "f%d", i), close(made(name, ""));
    DIR *all = opendir(".");
    int count = 0, sum = 0;
    struct dirent *entry;
    while ((entry = readdir(all))) count++, sum += entry->d_type;
    rewinddir(all);
    long place = 0;
    for (int i = 0; i < 7; i++) readdir(all);
    place = telldir(all);
    char kept[300];
    strcpy(kept, readdir(all)->d_name);
    for (int i = 0; i < 7; i++) readdir(all);
    seekdir(all, place);
    printf("%d %d %d\n", count, sum, strcmp(kept, readdir(all)->d_name));
}
PROGRAM(descriptors) {
    for (int i = 0; i < 5; i++) open("/dev/null", O_RDONLY);
    int top = open("/dev/null", O_RDONLY);
    printf("%s", error(syscall(SYS_close_range, top - 2, top, 4)));
    printf(" %d %d", fcntl(top, F_GETFD), fcntl(top - 3, F_GETFD));
    printf(" %s", error(syscall(SYS_close_range, top - 1, ~0u, 0)));
    printf(" %s", error(fcntl(top, F_GETFD)));
    printf(" %s", error(syscall(SYS_close_range, 5, 3, 0)));
    printf(" %d", fcntl(0, F_DUPFD_CLOEXEC, 50));
    printf(" %s %s %s\n", error(dup3(1, 1, 0)), error(dup2(99, 5)), error(dup3(0, 60, O_APPEND)));
}
PROGRAM(appended) {
    int file = open("a", O_RDWR | O_CREAT | O_APPEND, 0644);
    write(file, "first", 5);
    lseek(file, 0, SEEK_SET);
    write(file, "second", 6);
    printf("%ld", (long)lseek(file, 0, SEEK_CUR));
    printf(" %zd", pwrite(file, "third", 5, 0));
    printf(" %s %d\n", contents(file), (fcntl(file, F_GETFL) & O_APPEND) != 0);
}
PROGRAM(links_of_proc) {
    int file = made("a", "x");
    char path[64], to[256] = {0};
    sprintf(path, "/proc/self/fd/%d", file);
    printf("%d", readlink(path, to, 255) > 0 && strcmp(strrchr(to, '/'), "/a") == 0);
    unlink("a");
    memset(to, 0, sizeof to);
    readlink(path, to, 255);
    printf(" %s", strrchr(to, '/'));
    int again = open(path, O_RDONLY);
    printf(" %s", contents(again));
    memset(to, 0, sizeof to);
    readlink("/proc/self/cwd", to, 255);
    printf(" %d\n", strcmp(to, folder));
}
PROGRAM(too_large) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int file = made("a", "");
    char bytes[1500] = {0};
    printf("%zd", write(file, bytes, 1500));
    printf(" %s", error(write(file, bytes, 1)));
    printf(" %s\n", error(ftruncate(file, 5000)));
}
