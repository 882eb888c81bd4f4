// Processes: made, replaced, waited for, and what they inherit.
#include "family.h"
#include <spawn.h>
#include <sys/times.h>
#include <sys/types.h>
extern char **environ;

PROGRAM(spawned) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int ends[2];
    pipe(ends);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    posix_spawnattr_setsigmask(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    char *arguments[] = {"sh", "-c", "pwd; cat; echo $X; grep SigBlk /proc/self/status", 0}, *environment[] = {"X=given", "PATH=/bin:/usr/bin", 0};
    int number, status;
    printf("%d ", posix_spawn(&number, "/bin/sh", &actions, &attributes, arguments, environment));
    waitpid(number, &status, 0);
    close(ends[1]);
    char text[256] = {0};
    for (long got, at = 0; (got = read(ends[0], text + at, 255 - at)) > 0; at += got) {}
    printf("%d %s", ended(status), text);
    printf("%s\n", strerrorname_np(posix_spawnp(&number, "no-such-program", 0, 0, arguments, environ)));
}
PROGRAM(shared_until_it_ends) {
    volatile int number = 1;
    int status, made = vfork();
    if (made == 0) {
        number = 5;
        _exit(3);
    }
    waitpid(made, &status, 0);
    printf("%d %d\n", number, ended(status));
}
PROGRAM(by_shell) {
    FILE *from = popen("echo one; echo two; exit 3", "r");
    char line[64];
    while (fgets(line, 64, from)) printf("%s", line);
    printf("%d", WEXITSTATUS(pclose(from)));
    printf(" %d\n", WEXITSTATUS(system("exit 7")));
}
PROGRAM(failures_to_run) {
    char *arguments[] = {"x", 0};
    int file = open("/tmp/family-not-a-program", O_CREAT | O_WRONLY, 0755);
    write(file, "nothing", 7);
    close(file);
    execv("/tmp/family-not-a-program", arguments);
    printf("%s", error(-1));
    chmod("/tmp/family-not-a-program", 0644);
    execv("/tmp/family-not-a-program", arguments);
    printf(" %s", error(-1));
    unlink("/tmp/family-not-a-program");
    execv("/no/such/thing", arguments);
    printf(" %s", error(-1));
    execv("/", arguments);
    printf(" %s", error(-1));
    char *large = malloc(1 << 18);
    memset(large, 'x', (1 << 18) - 1);
    large[(1 << 18) - 1] = 0;
    char *many[] = {"x", large, 0};
    execv("/bin/true", many);
    printf(" %s\n", error(-1));
}
PROGRAM(by_descriptor) {
    char *arguments[] = {"echo", "by descriptor", 0};
    int file = open("/bin/echo", O_RDONLY | O_CLOEXEC);
    fflush(stdout);
    if (fork() == 0) {
        fexecve(file, arguments, environ);
        _exit(99);
    }
    int status;
    wait(&status);
    printf("%d\n", ended(status));
}
static void run_status(void) { execl("/bin/grep", "grep", "Sig[BI]", "/proc/self/status", (char *)0); }
PROGRAM(kept_by_a_new_program) {
    signal(SIGUSR1, SIG_IGN);
    handle(SIGUSR2, (void *)run_status, 0);
    block(SIG_BLOCK, SIGHUP);
    printf("%d\n", child(run_status));
}
PROGRAM(families) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    pipe(ends);
    fflush(stdout);
    int middle = fork();
    if (middle == 0) {
        int own = getpid();
        if (fork() == 0) {
            while (getppid() == own) pause_for(1);
            int parent = getppid();
            write(ends[1], &parent, 4);
            _exit(6);
        }
        _exit(5);
    }
    int status, parent, first = wait(&status);
    printf("%d %d", first == middle, ended(status));
    read(ends[0], &parent, 4);
    printf(" %d", parent == getpid());
    wait(&status);
    printf(" %d\n", ended(status));
}
static void watch_parent(void) {
    int ends[2];
    pipe(ends);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGUSR1);
        signal(SIGUSR1, _exit);
        write(ends[1], "r", 1);
        for (;;) pause();
    }
    char byte;
    read(ends[0], &byte, 1);
}
PROGRAM(death_of_the_parent) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int status, first = child(watch_parent);
    wait(&status);
    printf("%d %d\n", first, ended(status) == SIGUSR1);
}
static void session(void) {
    printf("%d", setsid() == getpid());
    printf(" %d %d", getsid(0) == getpid(), getpgrp() == getpid());
    printf(" %s", error(setsid()));
    printf(" %s\n", error(setpgid(0, getppid())));
}
PROGRAM(sessions) { child(session); }
static int at_start, at_end;
static void prepare(void) { at_start++; }
static void in_parent(void) { at_end += 10; }
static void in_child(void) { at_end += 100; }
static void last(void) { printf("last %d %d\n", at_start, at_end); }
static void leave(void) { exit(4); }
PROGRAM(handlers_of_forks) {
    pthread_atfork(prepare, in_parent, in_child);
    atexit(last);
    printf("%d\n", child(leave));
}
// Burns time until the kernel, which counts now and then, has seen it.
static void burn(void) {
    struct rusage usage;
    do {
        for (volatile int i = 0; i < 100000; i++) {}
        getrusage(RUSAGE_SELF, &usage);
    } while (usage.ru_utime.tv_usec < 20000);
}
PROGRAM(usage) {
    struct rusage usage;
    struct tms times_;
    child(burn);
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%d", usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec > 0);
    printf(" %s", error(getrusage(RUSAGE_THREAD, &usage)));
    printf(" %s %d\n", error(getrusage(77, &usage)), times(&times_) != -1);
}
PROGRAM(waits) {
    siginfo_t info;
    printf("%s", error(waitid(P_ALL, 0, &info, WEXITED)));
    fflush(stdout);
    int number = fork();
    if (number == 0) _exit(8);
    printf(" %s", error(waitid(P_PID, number, &info, WEXITED | WNOWAIT)));
    printf(" %d %d %d %d", info.si_signo, info.si_code, info.si_status, info.si_pid == number);
    int status;
    printf(" %d", waitpid(-getpgrp(), &status, 0) == number);
    printf(" %d", ended(status));
    printf(" %s", error(waitpid(number, &status, 0)));
    printf(" %s\n", error(waitpid(-1, &status, 77777)));
}
PROGRAM(niceness) {
    printf("%d", getpriority(PRIO_PROCESS, 0) == nice(0));
    printf(" %s", error(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1)));
    printf(" %s", error(setpriority(77, 0, 0)));
    struct sched_param parameter = {0};
    printf(" %d", sched_getscheduler(0));
    printf(" %s", error(sched_setscheduler(0, SCHED_BATCH, &parameter)));
    printf(" %d", sched_getscheduler(0));
    printf(" %s\n", error(sched_setscheduler(0, 99, &parameter)));
}
PROGRAM(environments) {
    setenv("A", "1", 1), putenv("B=2"), unsetenv("HOME");
    fflush(stdout);
    printf("%d\n", WEXITSTATUS(system("test \"$A$B$HOME\" = 12 && exit 5")));
}
