// All descriptors are in use when it forks, and when its child runs another program.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 1) {
        printf("run again\n");
        return 3;
    }
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    int count = 0;
    while (dup(0) >= 0) count++;
    printf("%d, then %d\n", count > 50, errno == EMFILE);
    for (int way = 0; way < 3; way++) {
        fflush(stdout);
        if (fork() == 0) {
            printf("child %d\n", way);
            fflush(stdout);
            if (way == 2) execl("/proc/self/exe", "again", "again", (char *)0);
            _exit(way);
        }
        int status;
        wait(&status);
        printf("ended with %d\n", WEXITSTATUS(status));
    }
    return 0;
}
