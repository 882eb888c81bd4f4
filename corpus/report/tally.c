/* Two threads, one counter, no lock: a race for the detectors, with a call between the threads and the access. */
#include <pthread.h>
#include <stdio.h>

static int tally;

static void count(int by) {
    tally += by;
}

static void *clerk(void *share) {
    count(*(int *)share);
    return NULL;
}

int main(void) {
    pthread_t helper;
    int share = 2;
    if (pthread_create(&helper, NULL, clerk, &share) != 0)
        return 1;
    count(1);
    pthread_join(helper, NULL);
    printf("%d\n", tally);
    return 0;
}
