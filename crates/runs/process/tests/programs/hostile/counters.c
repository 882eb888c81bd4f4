// Writes over every word of the page where the native engine counts instructions, a child for each: the engine may end
// the child, saying so, or the child ends as it wants to. Its parent says how many ended in another way.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char _start[];

int main(int count, char **texts) {
    // The status that says that Parallax gave up, and where the page is, seen from the page of the start.
    int gave_up = atoi(texts[1]);
    uintptr_t page = ((uintptr_t)_start & ~4095ul) + strtol(texts[2], 0, 0);
    static const uint64_t values[] = {0, -1ull, 1ull << 62, 0x00007fffffffe000};
    int fine = 0, given_up = 0, faults = 0, others = 0;
    for (int word = 0; word < 512; word += word < 12 ? 1 : 250) {
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            fflush(stdout);
            if (fork() == 0) {
                ((volatile uint64_t *)page)[word] = values[i];
                for (volatile int round = 0; round < 200; round++) {}
                _exit(7);
            }
            int status = 0;
            wait(&status);
            if (WIFEXITED(status) && WEXITSTATUS(status) == 7) fine++;
            else if (WIFEXITED(status) && WEXITSTATUS(status) == gave_up) given_up++;
            else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) faults++;
            else others++;
        }
    }
    printf("%d fine, %d given up, %d faults, %d others\n", fine, given_up, faults, others);
    (void)count;
    return 0;
}
