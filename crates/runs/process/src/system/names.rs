//! The names of system calls, for those that are not in the table.
//!
//! From the kernel's headers (`asm/unistd_64.h` of x86-64, `asm/unistd_32.h` of PowerPC, Linux 6.1).

use crate::elf::Machine;

/// Names of consecutive numbers, from `first` on.
struct Run {
    first: u64,
    names: &'static str,
}

/// The name of a system call, if the kernel has one of that number.
pub fn find(machine: Machine, number: u64) -> Option<&'static str> {
    let runs = match machine {
        Machine::X86_64 => X86_64,
        Machine::PowerPc => POWERPC,
    };
    let run = runs.iter().rev().find(|run| run.first <= number)?;
    run.names.split_whitespace().nth(usize::try_from(number - run.first).ok()?)
}

static X86_64: &[Run] = &[
    Run {
        first: 0,
        names: "\
            read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction \
            rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select \
            sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 pause nanosleep \
            getitimer alarm setitimer getpid sendfile socket connect accept sendto recvfrom sendmsg \
            recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt \
            clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd \
            msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir \
            rename mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown \
            umask gettimeofday getrlimit getrusage sysinfo times ptrace getuid syslog getgid setuid \
            setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups \
            setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget \
            capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod \
            uselib personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam \
            sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max \
            sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup \
            modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct \
            settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm \
            create_module init_module delete_module get_kernel_syms query_module quotactl nfsservctl \
            getpmsg putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr fsetxattr \
            getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr \
            fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup \
            io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create \
            epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall \
            semtimedop fadvise64 timer_create timer_settime timer_gettime timer_getoverrun \
            timer_delete clock_settime clock_gettime clock_getres clock_nanosleep exit_group \
            epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy mq_open \
            mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key \
            request_key keyctl ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch \
            migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat unlinkat renameat \
            linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare set_robust_list \
            get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait \
            signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 \
            signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo \
            perf_event_open recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at \
            open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv \
            process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp \
            getrandom memfd_create kexec_file_load bpf execveat userfaultfd membarrier mlock2 \
            copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents \
            rseq",
    },
    Run {
        first: 424,
        names: "\
            pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount \
            fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd \
            faccessat2 process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset \
            landlock_add_rule landlock_restrict_self memfd_secret process_mrelease futex_waitv \
            set_mempolicy_home_node",
    },
];

static POWERPC: &[Run] = &[
    Run {
        first: 0,
        names: "\
            restart_syscall exit fork read write open close waitpid creat link unlink execve chdir \
            time mknod chmod lchown break oldstat lseek getpid mount umount setuid getuid stime ptrace \
            alarm oldfstat pause utime stty gtty access nice ftime sync kill rename mkdir rmdir dup \
            pipe times prof brk setgid getgid signal geteuid getegid acct umount2 lock ioctl fcntl mpx \
            setpgid ulimit oldolduname umask chroot ustat dup2 getppid getpgrp setsid sigaction \
            sgetmask ssetmask setreuid setregid sigsuspend sigpending sethostname setrlimit getrlimit \
            getrusage gettimeofday settimeofday getgroups setgroups select symlink oldlstat readlink \
            uselib swapon reboot readdir mmap munmap truncate ftruncate fchmod fchown getpriority \
            setpriority profil statfs fstatfs ioperm socketcall syslog setitimer getitimer stat lstat \
            fstat olduname iopl vhangup idle vm86 wait4 swapoff sysinfo ipc fsync sigreturn clone \
            setdomainname uname modify_ldt adjtimex mprotect sigprocmask create_module init_module \
            delete_module get_kernel_syms quotactl getpgid fchdir bdflush sysfs personality \
            afs_syscall setfsuid setfsgid _llseek getdents _newselect flock msync readv writev getsid \
            fdatasync _sysctl mlock munlock mlockall munlockall sched_setparam sched_getparam \
            sched_setscheduler sched_getscheduler sched_yield sched_get_priority_max \
            sched_get_priority_min sched_rr_get_interval nanosleep mremap setresuid getresuid \
            query_module poll nfsservctl setresgid getresgid prctl rt_sigreturn rt_sigaction \
            rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend pread64 \
            pwrite64 chown getcwd capget capset sigaltstack sendfile getpmsg putpmsg vfork ugetrlimit \
            readahead mmap2 truncate64 ftruncate64 stat64 lstat64 fstat64 pciconfig_read \
            pciconfig_write pciconfig_iobase multiplexer getdents64 pivot_root fcntl64 madvise mincore \
            gettid tkill setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr \
            llistxattr flistxattr removexattr lremovexattr fremovexattr futex sched_setaffinity \
            sched_getaffinity",
    },
    Run {
        first: 225,
        names: "\
            tuxcall sendfile64 io_setup io_destroy io_getevents io_submit io_cancel set_tid_address \
            fadvise64 exit_group lookup_dcookie epoll_create epoll_ctl epoll_wait remap_file_pages \
            timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime \
            clock_gettime clock_getres clock_nanosleep swapcontext tgkill utimes statfs64 fstatfs64 \
            fadvise64_64 rtas sys_debug_setcontext",
    },
    Run {
        first: 258,
        names: "\
            migrate_pages mbind get_mempolicy set_mempolicy mq_open mq_unlink mq_timedsend \
            mq_timedreceive mq_notify mq_getsetattr kexec_load add_key request_key keyctl waitid \
            ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch spu_run spu_create \
            pselect6 ppoll unshare splice tee vmsplice openat mkdirat mknodat fchownat futimesat \
            fstatat64 unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat get_robust_list \
            set_robust_list move_pages getcpu epoll_pwait utimensat signalfd timerfd_create eventfd \
            sync_file_range2 fallocate subpage_prot timerfd_settime timerfd_gettime signalfd4 eventfd2 \
            epoll_create1 dup3 pipe2 inotify_init1 perf_event_open preadv pwritev rt_tgsigqueueinfo \
            fanotify_init fanotify_mark prlimit64 socket bind connect listen accept getsockname \
            getpeername socketpair send sendto recv recvfrom shutdown setsockopt getsockopt sendmsg \
            recvmsg recvmmsg accept4 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg \
            setns process_vm_readv process_vm_writev finit_module kcmp sched_setattr sched_getattr \
            renameat2 seccomp getrandom memfd_create bpf execveat switch_endian userfaultfd membarrier",
    },
    Run {
        first: 378,
        names: "\
            mlock2 copy_file_range preadv2 pwritev2 kexec_file_load statx pkey_alloc pkey_free \
            pkey_mprotect rseq io_pgetevents",
    },
    Run {
        first: 393,
        names: "\
            semget semctl shmget shmctl shmat shmdt msgget msgsnd msgrcv msgctl clock_gettime64 \
            clock_settime64 clock_adjtime64 clock_getres_time64 clock_nanosleep_time64 timer_gettime64 \
            timer_settime64 timerfd_gettime64 timerfd_settime64 utimensat_time64 pselect6_time64 \
            ppoll_time64",
    },
    Run {
        first: 416,
        names: "\
            io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 mq_timedreceive_time64 \
            semtimedop_time64 rt_sigtimedwait_time64 futex_time64 sched_rr_get_interval_time64 \
            pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount \
            fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd \
            faccessat2 process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset \
            landlock_add_rule landlock_restrict_self",
    },
    Run { first: 448, names: "process_mrelease futex_waitv set_mempolicy_home_node" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_runs_have_their_names() {
        assert_eq!(find(Machine::X86_64, 0), Some("read"));
        assert_eq!(find(Machine::X86_64, libc::SYS_rseq as u64), Some("rseq"));
        assert_eq!(find(Machine::X86_64, 335), None);
        assert_eq!(find(Machine::X86_64, libc::SYS_pidfd_send_signal as u64), Some("pidfd_send_signal"));
        assert_eq!(find(Machine::X86_64, u64::MAX), None);
        assert_eq!(find(Machine::PowerPc, 114), Some("wait4"));
        assert_eq!(find(Machine::PowerPc, 172), Some("rt_sigreturn"));
    }
}
