// More queued signals than any buffer on the way has room for: none is lost, and they come in order.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int count, misplaced;
static void take(int signal, siginfo_t *information, void *unused) {
    misplaced += information->si_value.sival_int != count;
    count++;
}
int main(void) {
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (int i = 0; i < 700; i++) sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("%d %d\n", count, misplaced);
    return 0;
}
