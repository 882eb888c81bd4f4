// Who a process is, what it may do, and what the system says about it.
#include "family.h"
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <grp.h>
static const char *field(const char *file, const char *title) {
    static char line[512];
    FILE *from = fopen(file, "r");
    while (from && fgets(line, sizeof line, from))
        if (strncmp(line, title, strlen(title)) == 0) {
            fclose(from);
            line[strcspn(line, "\n")] = 0;
            return line + strlen(title);
        }
    if (from) fclose(from);
    return "none";
}

PROGRAM(limits) {
    struct rlimit limit;
    printf("%s", error(getrlimit(RLIMIT_NOFILE, &limit)));
    limit.rlim_cur = 20;
    printf(" %s", error(setrlimit(RLIMIT_NOFILE, &limit)));
    int last = 0, now;
    while ((now = dup(0)) >= 0) last = now;
    printf(" %d %s", last, error(-1));
    printf(" %s", error(fcntl(0, F_DUPFD, 20)));
    limit.rlim_cur = 30, limit.rlim_max = 25;
    printf(" %s\n", error(setrlimit(RLIMIT_NOFILE, &limit)));
}
PROGRAM(users) {
    uid_t real, effective, saved;
    printf("%s", error(getresuid(&real, &effective, &saved)));
    printf(" %d %d", real == getuid(), effective == geteuid());
    printf(" %d", setfsuid(-1) == (int)geteuid());
    gid_t groups[100];
    int count = getgroups(0, 0);
    printf(" %d %s", getgroups(100, groups) == count, count > 1 ? error(getgroups(1, groups)) : "EINVAL");
    printf(" %s\n", error(setreuid(-1, -1)));
}
static void drop(void) {
    printf("%s", error(setresgid(12345, 12345, 12345)));
    printf(" %s", error(setresuid(12345, 12345, 12345)));
    printf(" %d %d", getuid(), getegid());
    printf(" %s", error(setuid(0)));
    printf(" %s\n", error(open("/etc/shadow", O_RDONLY)));
}
PROGRAM(dropped_rights) {
    if (getuid()) printf("not root\n");
    else child(drop);
}
PROGRAM(status) {
    prctl(PR_SET_NAME, "renamed");
    char number[32];
    sprintf(number, "\t%d", getpid());
    printf("%s", field("/proc/self/status", "Name:"));
    printf(" %d", !strcmp(field("/proc/self/status", "Pid:"), number));
    printf(" %s", field("/proc/self/status", "Threads:"));
    block(SIG_BLOCK, SIGHUP);
    printf(" %s", field("/proc/self/status", "SigBlk:"));
    signal(SIGUSR1, SIG_IGN);
    printf(" %s", field("/proc/self/status", "SigIgn:"));
    printf(" %s\n", field("/proc/self/limits", "Max open files ") ? "limits" : "-");
}
PROGRAM(vectors) {
    printf("%lu %lu", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK));
    printf(" %lu %d", getauxval(AT_UID) - getuid(), getauxval(AT_RANDOM) != 0);
    printf(" %d", strcmp(strrchr((char *)getauxval(AT_EXECFN), '/') + 1, program_invocation_short_name));
    unsigned long pairs[64];
    int file = open("/proc/self/auxv", O_RDONLY);
    long got = read(file, pairs, sizeof pairs);
    int same = 1;
    for (long i = 0; i + 1 < got / 8 && pairs[i]; i += 2)
        if (pairs[i] == AT_RANDOM || pairs[i] == AT_ENTRY || pairs[i] == AT_PHDR) same &= getauxval(pairs[i]) == pairs[i + 1];
    printf(" %d %d\n", got > 100, same);
}
PROGRAM(tasks) {
    char path[64];
    sprintf(path, "/proc/self/task/%ld/comm", syscall(SYS_gettid));
    prctl(PR_SET_NAME, "one-of-them");
    printf("%s", field(path, ""));
    sprintf(path, "/proc/%d/comm", getpid());
    printf(" %s", field(path, ""));
    int file = open("/proc/self/comm", O_WRONLY);
    printf(" %zd", write(file, "written", 7));
    char name[16];
    prctl(PR_GET_NAME, name);
    printf(" %s\n", name);
}
PROGRAM(system_) {
    struct utsname names;
    struct sysinfo about;
    uname(&names);
    printf("%s %s", names.sysname, names.machine);
    printf(" %s", error(sysinfo(&about)));
    printf(" %d", about.totalram * about.mem_unit > 1 << 20);
    char host[65];
    gethostname(host, 65);
    printf(" %d", strcmp(host, names.nodename));
    struct statfs place;
    printf(" %s", error(statfs("/proc", &place)));
    printf(" %lx %d\n", (long)place.f_type, sysconf(_SC_NPROCESSORS_ONLN) > 0);
}
PROGRAM(processors) {
    cpu_set_t all;
    unsigned now;
    printf("%ld", syscall(SYS_sched_getaffinity, 0, sizeof all, &all) > 0);
    printf(" %s", error(syscall(SYS_getcpu, &now, 0, 0)));
    printf(" %d", CPU_ISSET(now, &all) != 0);
    printf(" %s", error(syscall(SYS_sched_getaffinity, 0, 1, &all)));
    CPU_ZERO(&all);
    printf(" %s %d\n", error(sched_setaffinity(0, sizeof all, &all)), sched_getcpu() >= 0);
}
PROGRAM(capabilities) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    printf("%s", error(syscall(SYS_capget, &header, data)));
    data[0].effective &= ~(1u << CAP_CHOWN);
    printf(" %s", error(syscall(SYS_capset, &header, data)));
    printf(" %s", error(chown("/tmp", 1, 1)));
    printf(" %d %d\n", prctl(PR_CAPBSET_READ, CAP_CHOWN), prctl(PR_CAPBSET_READ, 999));
}
PROGRAM(settings) {
    printf("%d", prctl(PR_GET_DUMPABLE));
    printf(" %s", error(prctl(PR_SET_DUMPABLE, 0)));
    printf(" %d", prctl(PR_GET_DUMPABLE));
    printf(" %s", error(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
    printf(" %d", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    printf(" %s", error(prctl(PR_SET_TIMERSLACK, 1000)));
    printf(" %d", prctl(PR_GET_TIMERSLACK));
    int signal_;
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    printf(" %s", error(prctl(PR_GET_PDEATHSIG, &signal_)));
    printf(" %d", signal_);
    printf(" %x %s\n", personality(0xffffffff) & 0xff, error(prctl(9999)));
}
PROGRAM(not_for_us) {
    printf("%s", error(syscall(SYS_reboot, 0, 0, 0, 0)));
    printf(" %s", error(syscall(600)));
    printf(" %s\n", error(syscall(-1)));
}
