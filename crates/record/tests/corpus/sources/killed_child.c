// Children that are killed while they compute, waited for in two ways.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    for (int way = 0; way < 2; way++) {
        int ends[2];
        if (pipe(ends)) return 1;
        int child = fork();
        if (child == 0) {
            if (write(ends[1], "x", 1) != 1) _exit(1);
            for (volatile long i = 0;; i++);
        }
        char byte;
        if (read(ends[0], &byte, 1) != 1) return 1;
        usleep(20000);
        kill(child, SIGKILL);
        int status = 0;
        siginfo_t info = {0};
        if (way == 0) waitpid(child, &status, 0);
        else waitid(P_PID, (id_t)child, &info, WEXITED);
        printf("killed by %d\n", way == 0 ? WTERMSIG(status) : info.si_status);
        fflush(stdout);
    }
    return 0;
}
