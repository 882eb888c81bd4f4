// A write that fills a pipe and is then interrupted: what is in the pipe counts, and is not written again.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
static int channel[2];
static volatile int heard;
static char block[1 << 22];
static void hear(int unused) { heard = 1; }
static void *fill(void *unused) {
    long written = write(channel[1], block, sizeof block);
    close(channel[1]);
    return (void *)written;
}
int main(void) {
    struct sigaction action = {.sa_handler = hear, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pipe(channel);
    int room = fcntl(channel[1], F_GETPIPE_SZ), waiting = 0;
    pthread_t thread;
    void *written;
    pthread_create(&thread, NULL, fill, NULL);
    while (waiting < room) ioctl(channel[0], FIONREAD, &waiting);
    pthread_kill(thread, SIGUSR1);
    // Nothing is read before the signal was heard, so that the write cannot go on.
    while (!heard) usleep(1000);
    static char bytes[1 << 16];
    long total = 0, length;
    while ((length = read(channel[0], bytes, sizeof bytes)) > 0) total += length;
    pthread_join(thread, &written);
    printf("%d %d\n", (long)written == room, total == (long)written);
    return 0;
}
