// Two processes that add to shared memory, atomically and in turns.
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct both { atomic_long count; atomic_int turn; char text[64]; };
int main(void) {
    struct both *both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int second = fork() == 0;
    for (int i = 0; i < 20000; i++) atomic_fetch_add(&both->count, 1);
    for (int i = 0; i < 20; i++) {
        while (atomic_load(&both->turn) % 2 != second) usleep(100);
        both->text[i] = 'a' + (second ? 1 : 0) + i;
        atomic_fetch_add(&both->turn, 1);
    }
    if (second) _exit(0);
    wait(NULL);
    printf("%ld %d %.20s\n", both->count, both->turn, both->text);
    return 0;
}
