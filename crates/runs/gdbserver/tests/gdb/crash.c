// Takes a signal that it handles, twice, and dies of another.
#include <signal.h>
#include <stdio.h>

static volatile int heard;

static void hear(int signal) {
    heard += signal;
}

static void poke(int *where) {
    *where = heard;
}

int main(void) {
    signal(SIGUSR1, hear);
    raise(SIGUSR1);
    heard++;
    raise(SIGUSR1);
    printf("%d\n", heard);
    fflush(stdout);
    poke((int *)8);
    return 0;
}
