// Files, folders, waiting for descriptors, the heap and deep recursion, on machines of any word and byte order.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int depth(int levels) {
    volatile char room[200];
    room[0] = (char)levels;
    return levels ? depth(levels - 1) + 1 : 0;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void files(void) {
    char name[] = "/tmp/filesXXXXXX", text[64] = "";
    int file = mkstemp(name);
    struct iovec parts[2] = {{"hello ", 6}, {"world\n", 6}};
    printf("%zd\n", writev(file, parts, 2));
    printf("%zd %s", pread(file, text, 6, 6), text);
    struct stat status;
    printf("%d", fstat(file, &status));
    printf(" %lld %o\n", (long long)status.st_size, status.st_mode);
    char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    memcpy(mapped, "HELLO", 5);
    msync(mapped, 4096, MS_SYNC);
    munmap(mapped, 4096);
    memset(text, 0, sizeof text);
    lseek(file, 0, SEEK_SET);
    printf("%zd %s", read(file, text, sizeof text), text);
    printf("%d", ftruncate(file, 3));
    printf(" %lld\n", (long long)lseek(file, 0, SEEK_END));
    printf("%d\n", fcntl(file, F_GETFL) & O_ACCMODE);
    close(file);
    FILE *stream = fopen(name, "a+");
    fprintf(stream, "%d %5.2f\n", 42, 2.25);
    rewind(stream);
    printf("%s", fgets(text, sizeof text, stream));
    fclose(stream);
    unlink(name);
    printf("%d", open(name, O_RDONLY));
    printf(" %s\n", strerror(errno));
    printf("%d", open("/etc/passwd", O_RDONLY | O_DIRECTORY));
    printf(" %s\n", strerror(errno));
    int folder = open("/etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    printf("%d\n", folder >= 0 && faccessat(folder, "passwd", R_OK, 0) == 0);
    close(folder);
}

static void waiting(void) {
    int ends[2];
    char text[8];
    pipe(ends);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval moment = {0, 1000};
    printf("%d", select(ends[0] + 1, &set, NULL, NULL, &moment));
    printf(" %d\n", FD_ISSET(ends[0], &set));
    if (fork() == 0) {
        write(ends[1], "child", 5);
        _exit(7);
    }
    FD_SET(ends[0], &set);
    printf("%d", select(ends[0] + 1, &set, NULL, NULL, NULL));
    printf(" %d\n", FD_ISSET(ends[0], &set));
    // A descriptor beyond the first word of a set.
    int high = dup2(ends[0], 40);
    FD_ZERO(&set);
    FD_SET(high, &set);
    struct timespec second = {1, 0};
    printf("%d", pselect(high + 1, &set, NULL, NULL, &second, NULL));
    printf(" %d %d\n", FD_ISSET(high, &set), FD_ISSET(high ^ 32, &set));
    struct pollfd one = {ends[0], POLLIN, 0};
    printf("%d", poll(&one, 1, 1000));
    printf(" %d\n", one.revents);
    printf("%zd\n", read(ends[0], text, sizeof text));
    int status;
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    struct timespec nap = {0, 1000000};
    printf("%d\n", nanosleep(&nap, NULL));
}

int main(void) {
    files();
    waiting();
    printf("%d\n", depth(10000));
    int *numbers = malloc(100000 * sizeof(int));
    for (int i = 0; i < 100000; i++) numbers[i] = i * 7919 % 100003;
    qsort(numbers, 100000, sizeof(int), by_value);
    printf("%d %d\n", numbers[0], numbers[99999]);
    for (int i = 0; i < 5000; i++) {
        void *piece = malloc(i % 500 + 1);
        if (i % 3) free(piece);
    }
    char *large = malloc(20 << 20);
    memset(large, 3, 20 << 20);
    printf("%d\n", large[19 << 20]);
    void *end = sbrk(0);
    printf("%d\n", sbrk(100000) == end);
    time_t year = 86400 * 365;
    printf("%d\n", gmtime(&year)->tm_year);
    struct rlimit limit;
    struct rusage usage;
    printf("%d %d\n", getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0, getrusage(RUSAGE_SELF, &usage));
    return 0;
}
