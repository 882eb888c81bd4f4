// Two processes that add to one number, each time as one access.
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    atomic_long *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int second = fork() == 0;
    for (int i = 0; i < 100000; i++) atomic_fetch_add(count, 1);
    if (second) _exit(0);
    wait(NULL);
    printf("%ld\n", *count);
    return 0;
}
