// Calls that wait for a sibling thread: they must not keep it from running.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
static int channel[2];
static char name[64], fifo[64];
static void *drain(void *unused) {
    char bytes[4096];
    long total = 0;
    ssize_t length;
    while (total < 300000 && (length = read(channel[0], bytes, sizeof bytes)) > 0) total += length;
    return (void *)total;
}
// Lets the channel fill, and then empties it: numbered pieces must come once each, and in order.
static void *check(void *unused) {
    static int pieces[16384];
    long wrong = 0, next = 0;
    ssize_t length;
    while (next < 256) {
        for (volatile int i = 0; i < 100000; i++) {}
        if ((length = read(channel[0], pieces, sizeof pieces)) <= 0) break;
        for (ssize_t at = 0; at < length / 4; at += 1024) wrong += pieces[at] != next++;
    }
    return (void *)wrong;
}
static void *release(void *held) {
    for (volatile int i = 0; i < 200000; i++) {}
    flock(*(int *)held, LOCK_UN);
    return NULL;
}
static void *open_other(void *unused) {
    int end = open(fifo, O_WRONLY);
    write(end, "x", 1);
    close(end);
    return unused;
}
int main(void) {
    pipe(channel);
    pthread_t thread;
    void *total;
    pthread_create(&thread, NULL, drain, NULL);
    char *block = malloc(300000);
    memset(block, 7, 300000);
    ssize_t written = write(channel[1], block, 300000);
    pthread_join(thread, &total);
    void *wrong;
    int piece[1024];
    pthread_create(&thread, NULL, check, NULL);
    for (int number = 0; number < 256; number++) {
        for (int i = 0; i < 1024; i++) piece[i] = number;
        write(channel[1], piece, sizeof piece);
    }
    pthread_join(thread, &wrong);
    strcpy(name, "/tmp/parallax-siblings-XXXXXX");
    int first = mkstemp(name), second = open(name, O_RDWR);
    flock(first, LOCK_EX);
    pthread_create(&thread, NULL, release, &first);
    int locked = flock(second, LOCK_EX);
    pthread_join(thread, NULL);
    unlink(name);
    snprintf(fifo, sizeof fifo, "%s.fifo", name);
    mkfifo(fifo, 0600);
    pthread_create(&thread, NULL, open_other, NULL);
    int end = open(fifo, O_RDONLY);
    char letter = 0;
    read(end, &letter, 1);
    pthread_join(thread, NULL);
    unlink(fifo);
    printf("%zd %ld %ld %d %c\n", written, (long)total, (long)wrong, locked, letter);
    return 0;
}
