//! The system calls that a jailed program may make.
//!
//! A call that stands in no list is refused: new kernels bring new calls, and nothing is known of those.

use crate::walls::Kind;

/// What the filter does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is made.
    Pass,
    /// It is made if an argument (its low half) is one of these; otherwise the referee is asked.
    PassIf(u8, &'static [u32]),
    /// It is made if an argument has none of these bits; otherwise the referee is asked.
    PassUnless(u8, u32),
    /// The referee is asked.
    Ask,
}

/// A list of calls by their names in `libc`.
macro_rules! named {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

/// A list of calls: numbers and names, which begin with `SYS_`.
type List = &'static [(libc::c_long, &'static str)];

/// Calls that touch the caller alone, its own descriptors, or what the walls hold anyway.
const PASS: List = named! {
    SYS_read SYS_write SYS_close SYS_fstat SYS_lseek SYS_mmap SYS_mprotect SYS_munmap SYS_brk SYS_rt_sigaction
    SYS_rt_sigprocmask SYS_rt_sigreturn SYS_pread64 SYS_pwrite64 SYS_readv SYS_writev SYS_sched_yield SYS_mremap SYS_msync
    SYS_mincore SYS_madvise SYS_dup SYS_nanosleep SYS_getitimer SYS_setitimer SYS_getpid SYS_sendfile
    SYS_connect SYS_accept SYS_sendto SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_shutdown SYS_bind SYS_listen
    SYS_getsockname SYS_getpeername SYS_socketpair SYS_setsockopt SYS_getsockopt SYS_execve SYS_exit SYS_wait4
    SYS_uname SYS_flock SYS_fsync SYS_fdatasync SYS_ftruncate SYS_getcwd SYS_chdir
    SYS_fchdir SYS_umask SYS_gettimeofday SYS_getrlimit SYS_getrusage SYS_sysinfo SYS_times SYS_getuid SYS_getgid
    SYS_setuid SYS_setgid SYS_geteuid SYS_getegid SYS_setpgid SYS_getppid SYS_setsid SYS_setreuid SYS_setregid
    SYS_getgroups SYS_setgroups SYS_setresuid SYS_getresuid SYS_setresgid SYS_getresgid SYS_getpgid SYS_setfsuid
    SYS_setfsgid SYS_getsid SYS_capget SYS_capset SYS_rt_sigpending SYS_rt_sigtimedwait SYS_rt_sigsuspend
    SYS_sigaltstack SYS_personality SYS_statfs SYS_fstatfs SYS_getpriority SYS_sched_getparam SYS_sched_getscheduler
    SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_mlock SYS_munlock SYS_mlockall
    SYS_munlockall SYS_prctl SYS_setrlimit SYS_sync SYS_gettid SYS_readahead SYS_getxattr SYS_lgetxattr SYS_fgetxattr
    SYS_listxattr SYS_llistxattr SYS_flistxattr SYS_futex SYS_sched_getaffinity SYS_set_tid_address SYS_restart_syscall
    SYS_fadvise64 SYS_timer_create SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete
    SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_exit_group SYS_mbind SYS_set_mempolicy SYS_get_mempolicy
    SYS_waitid SYS_inotify_add_watch SYS_inotify_rm_watch SYS_mkdirat SYS_mknodat SYS_newfstatat SYS_unlinkat
    SYS_renameat SYS_linkat SYS_symlinkat SYS_readlinkat SYS_faccessat SYS_pselect6 SYS_ppoll SYS_set_robust_list
    SYS_get_robust_list SYS_splice SYS_tee SYS_sync_file_range SYS_vmsplice SYS_epoll_pwait SYS_timerfd_create
    SYS_fallocate SYS_timerfd_settime SYS_timerfd_gettime SYS_accept4 SYS_signalfd4 SYS_eventfd2 SYS_epoll_create1
    SYS_epoll_ctl SYS_dup3 SYS_pipe2 SYS_inotify_init1 SYS_preadv SYS_pwritev SYS_recvmmsg SYS_sendmmsg SYS_getcpu
    SYS_sched_getattr SYS_renameat2 SYS_seccomp SYS_getrandom SYS_execveat SYS_membarrier SYS_mlock2
    SYS_copy_file_range SYS_preadv2 SYS_pwritev2 SYS_pkey_mprotect SYS_pkey_alloc SYS_pkey_free SYS_statx SYS_rseq
    SYS_close_range SYS_pidfd_open SYS_faccessat2 SYS_epoll_pwait2 SYS_futex_waitv SYS_getdents64 SYS_openat SYS_truncate
    SYS_syncfs SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self
};

/// The same, on the processor that still has the old names of calls.
#[cfg(target_arch = "x86_64")]
const PASS_OLD: List = named! {
    SYS_open SYS_stat SYS_lstat SYS_poll SYS_access SYS_pipe SYS_select SYS_dup2 SYS_pause SYS_alarm SYS_getdents
    SYS_rename SYS_mkdir SYS_rmdir SYS_creat SYS_link SYS_unlink SYS_symlink SYS_readlink SYS_getpgrp SYS_mknod
    SYS_arch_prctl SYS_time SYS_epoll_create SYS_epoll_wait SYS_inotify_init SYS_signalfd SYS_eventfd
};
#[cfg(not(target_arch = "x86_64"))]
const PASS_OLD: List = &[];

/// Calls that change a file by its name, whoever owns it, and that Landlock says nothing about: in name spaces they change
/// a copy.
const CHANGE: List = named! {
    SYS_fchmod SYS_fchmodat SYS_fchmodat2 SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
    SYS_removexattr SYS_lremovexattr SYS_fremovexattr
};
#[cfg(target_arch = "x86_64")]
const CHANGE_OLD: List = named! { SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat };
#[cfg(not(target_arch = "x86_64"))]
const CHANGE_OLD: List = &[];

/// Calls that make something by a name of the whole machine's, which a name space has a copy of.
const MACHINE: List = named! {
    SYS_shmget SYS_shmat SYS_shmctl SYS_shmdt SYS_semget SYS_semop SYS_semctl SYS_semtimedop SYS_msgget SYS_msgsnd
    SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink SYS_mq_timedsend SYS_mq_timedreceive SYS_mq_notify
    SYS_mq_getsetattr SYS_openat2
};

/// Calls on another process, or on the caller, whom the first argument names: 0 is the caller.
const OF_PROCESS: List = named! {
    SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_prlimit64 SYS_sched_setaffinity
    SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
};

/// The same, named by the second argument, where the first one says that it is a process's number.
const OF_KIND: List = named! { SYS_setpriority SYS_ioprio_set SYS_ioprio_get };

/// Calls that signal: Landlock keeps these inside from its version 6 on.
const SIGNALS: List =
    named! { SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_send_signal };

/// Calls that make a process or a thread.
const FORK: List = named! { SYS_clone };
#[cfg(target_arch = "x86_64")]
const FORK_OLD: List = named! { SYS_fork SYS_vfork };
#[cfg(not(target_arch = "x86_64"))]
const FORK_OLD: List = &[];

/// All flags of `clone` that make a name space.
pub const NEW_SPACES: u32 = 0x7e02_0000;

/// Calls with which processes look into each other.
const TRACE: List = named! { SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_kcmp };

/// Calls that are always refused; they are here for their names.
const REFUSED: List = named! {
    SYS_socket SYS_memfd_create SYS_clone3 SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_userfaultfd SYS_bpf
    SYS_perf_event_open SYS_keyctl SYS_add_key SYS_request_key SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_unshare
    SYS_setns SYS_fsopen SYS_fsmount SYS_move_mount SYS_open_tree SYS_mount_setattr SYS_fanotify_init
    SYS_open_by_handle_at SYS_name_to_handle_at SYS_pidfd_getfd SYS_process_madvise SYS_reboot SYS_swapon SYS_acct
    SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load
    SYS_syslog SYS_vhangup SYS_quotactl SYS_setdomainname SYS_migrate_pages SYS_move_pages
};

/// Requests of `ioctl` that ask, or that set what belongs to the descriptor alone: of terminals, pipes and files. `TIOCSTI`,
/// with which a program types at the terminal, is not one of them, nor is what changes the flags of a file.
const IOCTLS: &[u32] = &[
    0x5401,
    0x5402,
    0x5403,
    0x5404, // TCGETS, TCSETS, TCSETSW, TCSETSF
    0x5405,
    0x540b,
    0x540f,
    0x5411, // TCGETA, TCFLSH, TIOCGPGRP, TIOCOUTQ
    0x5413,
    0x541b,
    0x5421,
    0x5429, // TIOCGWINSZ, FIONREAD, FIONBIO, TIOCGSID
    0x5450,
    0x5451,
    0x5452,
    0x5460, // FIONCLEX, FIOCLEX, FIOASYNC, FIOQSIZE
    0x802c_542a,
    0x8008_6601,
    0xc020_660b, // TCGETS2, FS_IOC_GETFLAGS, FS_IOC_FIEMAP
];

/// Commands of `fcntl` but those that make the kernel send signals or hold leases.
const FCNTLS: &[u32] =
    &[0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 16, 36, 37, 38, 1030, 1031, 1032, 1033, 1034, 1036];

/// Bits of `open` that write or make a file.
const WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE) as u32;

/// Calls that make, remove or rename: where the file system is not all copied, the caller is told that they were made.
const MAKING: List = named! {
    SYS_unlinkat SYS_mkdirat SYS_mknodat SYS_renameat SYS_renameat2 SYS_linkat SYS_symlinkat SYS_truncate
};
#[cfg(target_arch = "x86_64")]
const MAKING_OLD: List =
    named! { SYS_unlink SYS_mkdir SYS_mknod SYS_rename SYS_link SYS_symlink SYS_rmdir SYS_creat };
#[cfg(not(target_arch = "x86_64"))]
const MAKING_OLD: List = &[];

/// How a run is held, as far as its calls depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// By which walls.
    pub kind: Kind,
    /// Whether Landlock keeps signals inside.
    pub scoped: bool,
    /// Whether all of the file system is copy-on-write.
    pub copies_all: bool,
    /// Whether processes may trace each other.
    pub traces: bool,
}

/// The rule of each call; a call that is not there is asked about.
pub fn rules(held: Held) -> Vec<(libc::c_long, Rule)> {
    let spaces = held.kind == Kind::NameSpaces;
    let mut rules = std::collections::BTreeMap::new();
    let mut put = |lists: &[List], rule: Rule| {
        for (number, _) in lists.iter().copied().flatten() {
            rules.insert(*number, rule);
        }
    };
    put(&[PASS, PASS_OLD], Rule::Pass);
    put(&[CHANGE, CHANGE_OLD, MACHINE], if spaces { Rule::Pass } else { Rule::Ask });
    put(&[OF_PROCESS], if spaces { Rule::Pass } else { Rule::PassIf(0, &[0]) });
    put(&[OF_KIND], if spaces { Rule::Pass } else { Rule::Ask });
    if spaces || held.scoped {
        put(&[SIGNALS], Rule::Pass);
    }
    put(&[TRACE], if held.traces { Rule::Pass } else { Rule::Ask });
    put(&[REFUSED], Rule::Ask);
    // Memory that others see stays when no process has it mapped; so it is counted where it is made.
    put(&[named! { SYS_mmap }], Rule::PassUnless(3, libc::MAP_SHARED as u32));
    put(&[named! { SYS_shmget }], Rule::Ask);
    // A call that is asked about can end with EINTR where the program has handlers for signals. So what all shells do is
    // asked about only where nothing else ends a flood of processes.
    let is_ended_at_once = spaces || held.scoped;
    put(&[FORK, FORK_OLD], if is_ended_at_once { Rule::Pass } else { Rule::Ask });
    if is_ended_at_once {
        put(&[FORK], Rule::PassUnless(0, NEW_SPACES));
    }
    put(&[named! { SYS_ioctl }], Rule::PassIf(1, IOCTLS));
    put(&[named! { SYS_fcntl }], Rule::PassIf(1, FCNTLS));
    if !spaces || !held.copies_all {
        put(&[MAKING, MAKING_OLD], Rule::Ask);
        put(&[named! { SYS_openat }], Rule::PassUnless(2, WRITING));
        #[cfg(target_arch = "x86_64")]
        put(&[named! { SYS_open }], Rule::PassUnless(1, WRITING));
    }
    rules.into_iter().collect()
}

/// The groups in which the referee looks a call up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// It makes a process or a thread.
    Fork,
    /// It is on the process that the first argument names.
    OfProcess,
    /// It is on the process that the second argument names.
    OfKind,
    /// It changes a file by its name.
    Change,
    /// It makes, removes, renames or opens to write.
    Making,
    /// Anything else.
    Other,
}

/// The group of a call.
pub fn group(number: libc::c_long) -> Group {
    let within = |lists: &[List]| lists.iter().copied().flatten().any(|(known, _)| *known == number);
    let opens = number == libc::SYS_openat || {
        #[cfg(target_arch = "x86_64")]
        {
            number == libc::SYS_open
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    };
    match () {
        () if within(&[FORK, FORK_OLD]) => Group::Fork,
        () if within(&[OF_PROCESS]) => Group::OfProcess,
        () if within(&[OF_KIND]) => Group::OfKind,
        () if within(&[CHANGE, CHANGE_OLD]) => Group::Change,
        () if opens || within(&[MAKING, MAKING_OLD]) => Group::Making,
        () => Group::Other,
    }
}

/// The name of a call.
pub fn name(number: libc::c_long) -> String {
    const EXTRA: List = named! { SYS_ioctl SYS_fcntl SYS_pidfd_send_signal };
    let lists = [
        PASS, PASS_OLD, CHANGE, CHANGE_OLD, MACHINE, OF_PROCESS, OF_KIND, FORK, FORK_OLD, TRACE, REFUSED,
        EXTRA,
    ];
    let known = lists.into_iter().flatten().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("system call {number}"), |(_, name)| name["SYS_".len()..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_that_leaves_the_walls_passes() {
        for kind in [Kind::NameSpaces, Kind::Landlock] {
            let held = Held { kind, scoped: false, copies_all: true, traces: false };
            let rules = rules(held);
            for (number, name) in REFUSED.iter().chain(TRACE) {
                let rule = rules.iter().find(|(known, _)| known == number).map(|(_, rule)| *rule);
                assert_eq!(rule, Some(Rule::Ask), "{name} under {kind:?}");
            }
        }
    }
}
