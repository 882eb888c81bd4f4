// Children of children, pipes between them, and another program in place of one.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    int channel[2], sum = 0;
    pipe(channel);
    for (int i = 1; i <= 3; i++) {
        if (fork() == 0) {
            if (fork() == 0) {
                int value = i * 10;
                write(channel[1], &value, sizeof value);
                _exit(0);
            }
            wait(NULL);
            write(channel[1], &i, sizeof i);
            _exit(i);
        }
    }
    close(channel[1]);
    int value, status = 0, statuses = 0;
    while (read(channel[0], &value, sizeof value) > 0) sum += value;
    while (wait(&status) > 0) statuses += WEXITSTATUS(status);
    if (vfork() == 0) {
        execl("/bin/sh", "sh", "-c", "exit 9", NULL);
        _exit(1);
    }
    wait(&status);
    printf("%d %d %d\n", sum, statuses, WEXITSTATUS(status));
    return 0;
}
