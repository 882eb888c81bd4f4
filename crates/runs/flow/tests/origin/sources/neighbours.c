// What another process writes to shared memory.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t heard, own;

int main(void) {
    volatile uint32_t *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared[8] = 77;
    if (fork() == 0) {
        shared[0] = 4242;
        shared[1] = 1;
        _exit(0);
    }
    while (!shared[1]) sched_yield();
    heard = shared[0];
    own = shared[8];
    wait(0);
    return 0;
}
