// Children that are killed while they compute, sleep or read, waited for in two ways, and without asking how they ended.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void compute(void) {
    for (volatile long i = 0;; i++);
}

static void sleep_on(void) {
    for (;;) pause();
}

static void read_nothing(void) {
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0) _exit(1);
}

int main(void) {
    void (*const busy[])(void) = {compute, sleep_on, read_nothing};
    for (int way = 0; way < 12; way++) {
        int ends[2];
        if (pipe(ends)) return 1;
        int child = fork();
        if (child == 0) {
            if (write(ends[1], "x", 1) != 1) _exit(1);
            busy[way % 3]();
        }
        char byte;
        if (read(ends[0], &byte, 1) != 1) return 1;
        usleep(20000);
        kill(child, SIGKILL);
        int status = 0;
        siginfo_t info = {0};
        if (way < 3) waitpid(child, &status, 0);
        else if (way < 6) waitid(P_PID, (id_t)child, &info, WEXITED);
        else if (way < 9) wait(0);
        else waitid(P_ALL, 0, 0, WEXITED);
        printf("killed by %d\n", way < 3 ? WTERMSIG(status) : way < 6 ? info.si_status : SIGKILL);
        fflush(stdout);
    }
    return 0;
}
