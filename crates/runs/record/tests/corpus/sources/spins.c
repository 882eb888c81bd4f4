// Computes until it is killed, in two threads that make no call.
#include <pthread.h>
#include <stdio.h>

static volatile unsigned long count;

static void *spin(void *unused) {
    for (;;) count++;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, spin, 0);
    printf("ready\n");
    fflush(stdout);
    spin(0);
}
