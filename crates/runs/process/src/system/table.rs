//! The system calls, one row each: names, numbers, and how each is made.

use super::{
    Arguments, Reply, across, advice, children, descriptors, device, identity, ipc, limits, lock, messages,
    proc_files, robust, select, space,
};
use crate::elf::Machine;
use crate::outside::live::Live;
use crate::process::Process;
use crate::signal;
use std::sync::OnceLock;

/// What an argument is.
#[derive(Clone, Copy)]
pub enum Shape {
    /// A number: a descriptor, flags, an offset.
    Number,
    /// A number that is never negative.
    Size,
    /// A zero-terminated string.
    Path,
    /// Bytes for the kernel; the argument of this position says how many.
    In(usize),
    /// Bytes from the kernel; the argument of this position says how many, the result how many came.
    Out(usize),
    /// Structures that the kernel reads and writes; the argument of `count` says how many.
    Array {
        /// The position of their number.
        count: usize,
        /// The sizes of the fields of each.
        fields: &'static [u8],
    },
    /// Structures for the kernel, counted likewise.
    List {
        /// The position of their number.
        count: usize,
        /// The sizes of the fields of each.
        fields: &'static [u8],
        /// More than these are refused with that error.
        most: (u64, i32),
    },
    /// A structure for the kernel, by the sizes of its fields; may be absent.
    Give(&'static [u8]),
    /// A structure from the kernel.
    Fill(&'static [u8]),
    /// A structure from the kernel; where the program does not want it, a recording still does.
    Learn(&'static [u8]),
    /// A structure that the kernel reads and writes.
    Exchange(&'static [u8]),
    /// So many numbers for the kernel, each a word of the machine; may be absent.
    GiveWords(usize),
    /// So many numbers from the kernel.
    FillWords(usize),
}

impl Shape {
    /// Whether it is a structure that the kernel writes, or may write.
    pub(super) fn is_structure(&self) -> bool {
        matches!(
            self,
            Shape::Array { .. } | Shape::Fill(_) | Shape::Learn(_) | Shape::Exchange(_) | Shape::FillWords(_)
        )
    }
}

/// How a call is made.
#[derive(Clone, Copy)]
pub enum How {
    /// The host's kernel makes it.
    Pass(&'static [Shape]),
    /// A function here makes it on the host.
    Outside(Outside),
    /// It concerns the process alone: a function here makes it, and a replay makes it again.
    Inside(Inside),
    /// One or the other.
    Either {
        /// Whether it concerns the process alone.
        is_inside: fn(&mut Process, &Arguments) -> bool,
        /// Makes it then.
        inside: Inside,
        /// Makes it otherwise.
        outside: Outside,
    },
    /// It always fails with this error: programs ask to see whether it is there, and go on without.
    Refuse(i32),
}

/// One system call.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its number on x86-64, which is also the host's; negative if there is none.
    pub host: i64,
    /// Its numbers, in the order of [`crate::Abi::column`].
    numbers: [i64; 2],
    /// Whether it is made again after a signal whose handler asks for that.
    pub restarts: bool,
    /// How it is made.
    pub how: How,
}

/// The row of a number.
pub fn find(machine: Machine, number: u64) -> Option<&'static Row> {
    static INDEX: OnceLock<[Vec<Option<&'static Row>>; 2]> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        [Machine::X86_64, Machine::PowerPc].map(|machine| {
            let mut by_number = vec![None; 512];
            for row in ROWS {
                if let Ok(number) = usize::try_from(row.numbers[machine.abi().column]) {
                    by_number[number] = Some(row);
                }
            }
            by_number
        })
    });
    let numbers = &index[machine.abi().column];
    *numbers.get(usize::try_from(number).ok()?)?
}

const fn row(name: &'static str, x86_64: i64, powerpc: i64, how: How) -> Row {
    Row { name, host: x86_64, numbers: [x86_64, powerpc], restarts: false, how }
}

const fn pass(name: &'static str, x86_64: i64, powerpc: i64, shape: &'static [Shape]) -> Row {
    row(name, x86_64, powerpc, How::Pass(shape))
}

/// One that may wait, and is made again after a signal.
const fn waits(name: &'static str, x86_64: i64, powerpc: i64, shape: &'static [Shape]) -> Row {
    Row { restarts: true, ..row(name, x86_64, powerpc, How::Pass(shape)) }
}

/// A call of 32-bit machines that is another call, or the same with other types, on the host.
const fn narrow(name: &'static str, host: i64, powerpc: i64, shape: &'static [Shape]) -> Row {
    Row { name, host, numbers: [-1, powerpc], restarts: false, how: How::Pass(shape) }
}

/// The same for one that may wait.
const fn waits_narrow(name: &'static str, host: i64, powerpc: i64, shape: &'static [Shape]) -> Row {
    Row { restarts: true, ..narrow(name, host, powerpc, shape) }
}

/// A call that concerns the process alone.
pub type Inside = fn(&mut Process, &Arguments) -> Reply;
/// A call that the host has a part in.
pub type Outside = fn(&mut Process, &Live, &Arguments) -> Reply;

const fn own(name: &'static str, x86_64: i64, powerpc: i64, function: Outside) -> Row {
    row(name, x86_64, powerpc, How::Outside(function))
}

const fn inside(name: &'static str, x86_64: i64, powerpc: i64, function: Inside) -> Row {
    row(name, x86_64, powerpc, How::Inside(function))
}

/// A call that concerns the process alone, or not, by its arguments.
const fn either(
    name: &'static str,
    numbers: [i64; 2],
    is_inside: fn(&mut Process, &Arguments) -> bool,
    inside: Inside,
    outside: Outside,
) -> Row {
    row(name, numbers[0], numbers[1], How::Either { is_inside, inside, outside })
}

const fn refuse(name: &'static str, x86_64: i64, powerpc: i64, errno: i32) -> Row {
    row(name, x86_64, powerpc, How::Refuse(errno))
}

const TIME: &[u8] = &[8, 8];
const TWO_TIMES: &[u8] = &[8, 8, 8, 8];
const STAT: &[u8] = &[8; 18];
const STATX: &[u8] = &[
    4, 4, 8, 4, 4, 4, 2, 2, 8, 8, 8, 8, 8, 4, 4, 8, 4, 4, 8, 4, 4, 8, 4, 4, 4, 4, 4, 4, 8, 4, 4, 8, 8, 8, 8,
    8, 8, 8, 8, 8, 8, 8, 8,
];
const STATFS: &[u8] = &[8; 15];
const PAIR: &[u8] = &[4, 4];
const INT: &[u8] = &[4];
const LONG: &[u8] = &[8];
const USAGE: &[u8] = &[8; 18];
const SIGINFO: &[u8] = &[4; 32];
const POLL: &[u8] = &[4, 2, 2];
const QUEUE: &[u8] = &[8; 8];
const OPERATIONS: Shape = List { count: 2, fields: &[2, 2, 2], most: (500, libc::E2BIG) };

use Shape::{
    Array, Exchange, Fill, FillWords, Give, GiveWords, In, Learn, List, Number as N, Out, Path as P, Size,
};

/// Every system call we know of. The sizes of structures are those of x86-64 Linux.
static ROWS: &[Row] = &[
    // Files and descriptors.
    waits("read", 0, 3, &[N, Out(2), Size]),
    waits("write", 1, 4, &[N, In(2), Size]),
    own("open", 2, 5, proc_files::open),
    own("openat", 257, 286, proc_files::openat),
    pass("creat", 85, 8, &[P, N]),
    pass("close", 3, 6, &[N]),
    pass("close_range", 436, 436, &[N, N, N]),
    pass("stat", 4, -1, &[P, Fill(STAT)]),
    pass("fstat", 5, -1, &[N, Fill(STAT)]),
    pass("lstat", 6, -1, &[P, Fill(STAT)]),
    pass("newfstatat", 262, -1, &[N, P, Fill(STAT), N]),
    pass("statx", 332, 383, &[N, P, N, N, Fill(STATX)]),
    own("stat64", -1, 195, descriptors::stat64),
    own("lstat64", -1, 196, descriptors::lstat64),
    own("fstat64", -1, 197, descriptors::fstat64),
    own("fstatat64", -1, 291, descriptors::fstatat64),
    pass("lseek", 8, 19, &[N, N, N]),
    own("_llseek", -1, 140, descriptors::long_seek),
    waits("pread64", 17, -1, &[N, Out(2), Size, N]),
    waits("pwrite64", 18, -1, &[N, In(2), Size, N]),
    own("pread64_pair", -1, 179, descriptors::read_at),
    own("pwrite64_pair", -1, 180, descriptors::write_at),
    own("ftruncate64", -1, 194, descriptors::ftruncate64),
    own("readv", 19, 145, descriptors::readv),
    own("writev", 20, 146, descriptors::writev),
    own("preadv", 295, -1, descriptors::preadv),
    own("pwritev", 296, -1, descriptors::pwritev),
    own("preadv2", 327, -1, descriptors::preadv2),
    own("pwritev2", 328, -1, descriptors::pwritev2),
    own("vmsplice", 278, -1, descriptors::vmsplice),
    pass("access", 21, 33, &[P, N]),
    pass("faccessat", 269, 298, &[N, P, N]),
    pass("faccessat2", 439, 439, &[N, P, N, N]),
    pass("pipe", 22, 42, &[Fill(PAIR)]),
    pass("pipe2", 293, 317, &[Fill(PAIR), N]),
    pass("dup", 32, 41, &[N]),
    pass("dup2", 33, 63, &[N, N]),
    pass("dup3", 292, 316, &[N, N, N]),
    own("fcntl", 72, 55, descriptors::fcntl),
    own("fcntl64", -1, 204, descriptors::fcntl),
    own("ioctl", 16, 54, device::ioctl),
    waits("flock", 73, 143, &[N, N]),
    pass("fsync", 74, 118, &[N]),
    pass("fdatasync", 75, 148, &[N]),
    pass("sync", 162, 36, &[]),
    pass("syncfs", 306, 348, &[N]),
    pass("truncate", 76, 92, &[P, N]),
    pass("ftruncate", 77, 93, &[N, N]),
    pass("fallocate", 285, -1, &[N, N, N, N]),
    pass("fadvise64", 221, -1, &[N, N, N, N]),
    pass("readahead", 187, -1, &[N, N, Size]),
    pass("getdents", 78, -1, &[N, Out(2), Size]),
    pass("getdents64", 217, -1, &[N, Out(2), Size]),
    own("getdents64_turned", -1, 202, descriptors::directory_entries),
    pass("getcwd", 79, 182, &[Out(1), Size]),
    pass("chdir", 80, 12, &[P]),
    pass("fchdir", 81, 133, &[N]),
    pass("rename", 82, 38, &[P, P]),
    pass("renameat", 264, 293, &[N, P, N, P]),
    pass("renameat2", 316, 357, &[N, P, N, P, N]),
    pass("mkdir", 83, 39, &[P, N]),
    pass("mkdirat", 258, 287, &[N, P, N]),
    pass("rmdir", 84, 40, &[P]),
    pass("link", 86, 9, &[P, P]),
    pass("linkat", 265, 294, &[N, P, N, P, N]),
    pass("unlink", 87, 10, &[P]),
    pass("unlinkat", 263, 292, &[N, P, N]),
    pass("symlink", 88, 83, &[P, P]),
    pass("symlinkat", 266, 295, &[P, N, P]),
    own("readlink", 89, 85, descriptors::readlink),
    own("readlinkat", 267, 296, descriptors::readlinkat),
    pass("chmod", 90, 15, &[P, N]),
    pass("fchmod", 91, 94, &[N, N]),
    pass("fchmodat", 268, 297, &[N, P, N]),
    pass("fchmodat2", 452, 452, &[N, P, N, N]),
    pass("chown", 92, 181, &[P, N, N]),
    pass("fchown", 93, 95, &[N, N, N]),
    pass("lchown", 94, 16, &[P, N, N]),
    pass("fchownat", 260, 289, &[N, P, N, N, N]),
    pass("umask", 95, 60, &[N]),
    pass("mknod", 133, 14, &[P, N, N]),
    pass("mknodat", 259, 288, &[N, P, N, N]),
    pass("utime", 132, -1, &[P, Give(&[8, 8])]),
    pass("utimes", 235, -1, &[P, Give(TWO_TIMES)]),
    pass("futimesat", 261, -1, &[N, P, Give(TWO_TIMES)]),
    pass("utimensat", 280, -1, &[N, P, Give(TWO_TIMES), N]),
    narrow("utimensat_time64", 280, 412, &[N, P, Give(TWO_TIMES), N]),
    pass("statfs", 137, -1, &[P, Fill(STATFS)]),
    pass("fstatfs", 138, -1, &[N, Fill(STATFS)]),
    waits("sendfile", 40, -1, &[N, N, Exchange(LONG), Size]),
    waits("splice", 275, -1, &[N, Exchange(LONG), N, Exchange(LONG), Size, N]),
    waits("tee", 276, -1, &[N, N, Size, N]),
    waits("copy_file_range", 326, -1, &[N, Exchange(LONG), N, Exchange(LONG), Size, N]),
    pass("getxattr", 191, -1, &[P, P, Out(3), Size]),
    pass("lgetxattr", 192, -1, &[P, P, Out(3), Size]),
    pass("fgetxattr", 193, -1, &[N, P, Out(3), Size]),
    pass("setxattr", 188, -1, &[P, P, In(3), Size, N]),
    pass("lsetxattr", 189, -1, &[P, P, In(3), Size, N]),
    pass("fsetxattr", 190, -1, &[N, P, In(3), Size, N]),
    pass("listxattr", 194, -1, &[P, Out(2), Size]),
    pass("llistxattr", 195, -1, &[P, Out(2), Size]),
    pass("flistxattr", 196, -1, &[N, Out(2), Size]),
    pass("removexattr", 197, -1, &[P, P]),
    pass("lremovexattr", 198, -1, &[P, P]),
    pass("fremovexattr", 199, -1, &[N, P]),
    pass("sync_file_range", 277, -1, &[N, N, N, N]),
    pass("memfd_create", 319, 360, &[P, N]),
    pass("inotify_init", 253, -1, &[]),
    pass("inotify_init1", 294, -1, &[N]),
    pass("inotify_add_watch", 254, -1, &[N, P, N]),
    pass("inotify_rm_watch", 255, -1, &[N, N]),
    pass("eventfd", 284, -1, &[N]),
    pass("eventfd2", 290, 314, &[N, N]),
    pass("timerfd_create", 283, -1, &[N, N]),
    pass("timerfd_settime", 286, -1, &[N, N, Give(TWO_TIMES), Fill(TWO_TIMES)]),
    pass("timerfd_gettime", 287, -1, &[N, Fill(TWO_TIMES)]),
    own("openat2", 437, -1, proc_files::openat2),
    // Waiting.
    pass("poll", 7, 167, &[Array { count: 1, fields: POLL }, Size, N]),
    narrow(
        "ppoll_time64",
        271,
        414,
        &[Array { count: 1, fields: POLL }, Size, Exchange(TIME), Give(PAIR), Size],
    ),
    pass("ppoll", 271, -1, &[Array { count: 1, fields: POLL }, Size, Exchange(TIME), Give(LONG), Size]),
    own("select", 23, 142, select::select),
    own("pselect6", 270, 280, select::pselect),
    own("pselect6_time64", -1, 413, select::pselect_wide),
    pass("epoll_create", 213, -1, &[N]),
    pass("epoll_create1", 291, 315, &[N]),
    pass("epoll_ctl", 233, -1, &[N, N, N, Give(&[4, 8])]),
    own("epoll_wait", 232, -1, descriptors::epoll_wait),
    own("epoll_pwait", 281, -1, descriptors::epoll_pwait),
    own("epoll_pwait2", 441, -1, descriptors::epoll_pwait2),
    // Sockets.
    pass("socket", 41, -1, &[N, N, N]),
    pass("socketpair", 53, -1, &[N, N, N, Fill(PAIR)]),
    waits("connect", 42, -1, &[N, In(2), Size]),
    pass("bind", 49, -1, &[N, In(2), Size]),
    pass("listen", 50, -1, &[N, N]),
    pass("shutdown", 48, -1, &[N, N]),
    waits("sendto", 44, -1, &[N, In(2), Size, N, In(5), Size]),
    own("recvfrom", 45, -1, descriptors::recvfrom),
    own("sendmsg", 46, -1, messages::sendmsg),
    own("recvmsg", 47, -1, messages::recvmsg),
    own("sendmmsg", 307, -1, messages::sendmmsg),
    own("recvmmsg", 299, -1, messages::recvmmsg),
    own("accept", 43, -1, descriptors::accept),
    own("accept4", 288, -1, descriptors::accept4),
    own("getsockname", 51, -1, descriptors::getsockname),
    own("getpeername", 52, -1, descriptors::getpeername),
    pass("setsockopt", 54, -1, &[N, N, N, In(4), Size]),
    own("getsockopt", 55, -1, descriptors::getsockopt),
    // Memory.
    inside("mmap", 9, 90, space::mmap),
    inside("mmap2", -1, 192, space::mmap2),
    inside("mprotect", 10, 125, space::mprotect),
    inside("munmap", 11, 91, space::munmap),
    inside("mremap", 25, 163, space::mremap),
    inside("brk", 12, 45, space::brk),
    either("madvise", [28, 205], advice::is_inside, advice::madvise, advice::remove),
    either("msync", [26, 144], advice::needs_no_disk, advice::msync, advice::msync_outside),
    inside("mlock", 149, 150, advice::mlock),
    inside("munlock", 150, 151, advice::munlock),
    inside("mlockall", 151, 152, advice::mlockall),
    inside("munlockall", 152, 153, advice::munlockall),
    inside("mlock2", 325, 378, advice::mlock2),
    refuse("mincore", 27, 206, libc::ENOSYS),
    refuse("pkey_alloc", 330, 384, libc::ENOSYS),
    refuse("mbind", 237, -1, libc::ENOSYS),
    refuse("set_mempolicy", 238, -1, libc::ENOSYS),
    refuse("get_mempolicy", 239, -1, libc::ENOSYS),
    pass("membarrier", 324, 365, &[N, N, N]),
    refuse("userfaultfd", 323, 364, libc::ENOSYS),
    either("process_vm_readv", [310, -1], across::is_own, across::read, across::refuse),
    either("process_vm_writev", [311, -1], across::is_own, across::write, across::refuse),
    // Between processes.
    pass("shmget", 29, -1, &[N, Size, N]),
    inside("shmat", 30, -1, ipc::shmat),
    inside("shmdt", 67, -1, ipc::shmdt),
    own("shmctl", 31, -1, ipc::shmctl),
    pass("semget", 64, -1, &[N, N, N]),
    pass("semop", 65, -1, &[N, OPERATIONS, Size]),
    pass("semtimedop", 220, -1, &[N, OPERATIONS, Size, Give(TIME)]),
    own("semctl", 66, -1, ipc::semctl),
    pass("msgget", 68, -1, &[N, N]),
    own("msgsnd", 69, -1, ipc::msgsnd),
    own("msgrcv", 70, -1, ipc::msgrcv),
    own("msgctl", 71, -1, ipc::msgctl),
    pass("mq_open", 240, -1, &[P, N, N, Give(QUEUE)]),
    pass("mq_unlink", 241, -1, &[P]),
    waits("mq_timedsend", 242, -1, &[N, In(2), Size, N, Give(TIME)]),
    waits("mq_timedreceive", 243, -1, &[N, Out(2), Size, Fill(INT), Give(TIME)]),
    own("mq_notify", 244, -1, ipc::mq_notify),
    pass("mq_getsetattr", 245, -1, &[N, Give(QUEUE), Fill(QUEUE)]),
    // Signals.
    inside("rt_sigaction", 13, 173, signal::action),
    inside("rt_sigprocmask", 14, 174, signal::mask),
    inside("rt_sigreturn", 15, 172, signal::leave),
    own("rt_sigpending", 127, 175, signal::pending),
    inside("rt_sigsuspend", 130, 178, signal::suspend),
    inside("sigaltstack", 131, 185, signal::alternate_stack),
    either("rt_sigtimedwait", [128, -1], signal::has_awaited, signal::take_awaited, signal::wait_for_one),
    either(
        "rt_tgsigqueueinfo",
        [297, -1],
        identity::is_for_thread_of_group,
        identity::queue_for_thread,
        identity::queue_outside,
    ),
    pass("rt_sigqueueinfo", 129, -1, &[N, N, Give(SIGINFO)]),
    pass("kill", 62, 37, &[N, N]),
    row(
        "tkill",
        200,
        208,
        How::Either {
            is_inside: identity::is_for_thread,
            inside: identity::tkill,
            outside: identity::tkill_outside,
        },
    ),
    row(
        "tgkill",
        234,
        250,
        How::Either {
            is_inside: identity::is_for_thread_of_group,
            inside: identity::tgkill,
            outside: identity::tgkill_outside,
        },
    ),
    inside("pause", 34, 29, signal::pause),
    pass("alarm", 37, 27, &[N]),
    pass("getitimer", 36, 105, &[N, FillWords(4)]),
    pass("setitimer", 38, 104, &[N, GiveWords(4), FillWords(4)]),
    pass("timer_create", 222, -1, &[N, Give(&[8; 8]), Fill(INT)]),
    pass("timer_settime", 223, -1, &[N, N, Give(TWO_TIMES), Fill(TWO_TIMES)]),
    pass("timer_gettime", 224, -1, &[N, Fill(TWO_TIMES)]),
    pass("timer_getoverrun", 225, -1, &[N]),
    pass("timer_delete", 226, -1, &[N]),
    pass("signalfd", 282, -1, &[N, Give(LONG), Size]),
    pass("signalfd4", 289, -1, &[N, Give(LONG), Size, N]),
    // Time.
    pass("time", 201, -1, &[Fill(LONG)]),
    pass("gettimeofday", 96, -1, &[Fill(TIME), Fill(PAIR)]),
    pass("clock_gettime", 228, -1, &[N, Fill(TIME)]),
    pass("clock_getres", 229, -1, &[N, Fill(TIME)]),
    narrow("clock_gettime64", 228, 403, &[N, Fill(TIME)]),
    narrow("clock_getres_time64", 229, 406, &[N, Fill(TIME)]),
    pass("nanosleep", 35, -1, &[Give(TIME), Fill(TIME)]),
    pass("clock_nanosleep", 230, -1, &[N, N, Give(TIME), Fill(TIME)]),
    narrow("clock_nanosleep_time64", 230, 407, &[N, N, Give(TIME), Fill(TIME)]),
    pass("times", 100, 43, &[FillWords(4)]),
    narrow("time32", 201, 13, &[FillWords(1)]),
    narrow("gettimeofday32", 96, 78, &[FillWords(2), Fill(PAIR)]),
    narrow("clock_gettime32", 228, 246, &[N, FillWords(2)]),
    narrow("clock_getres32", 229, 247, &[N, FillWords(2)]),
    narrow("nanosleep32", 35, 162, &[GiveWords(2), FillWords(2)]),
    narrow("clock_nanosleep32", 230, 248, &[N, N, GiveWords(2), FillWords(2)]),
    pass("adjtimex", 159, -1, &[Exchange(&[8; 26])]),
    // The process and its relatives.
    inside("unshare", 272, 282, children::unshare),
    refuse("setns", 308, 350, libc::EPERM),
    inside("fork", 57, 2, children::fork),
    inside("vfork", 58, 189, children::vfork),
    inside("clone", 56, 120, children::clone),
    refuse("clone3", 435, 435, libc::ENOSYS),
    inside("execve", 59, 11, children::execve),
    inside("exit", 60, 1, children::exit),
    inside("exit_group", 231, 234, children::exit_group),
    waits("wait4", 61, 114, &[N, Learn(INT), N, FillWords(18)]),
    waits_narrow("waitpid", 61, 7, &[N, Learn(INT), N]),
    waits("waitid", 247, -1, &[N, N, Learn(SIGINFO), N, Fill(USAGE)]),
    pass("getpid", 39, 20, &[]),
    pass("getppid", 110, 64, &[]),
    inside("gettid", 186, 207, identity::gettid),
    pass("getuid", 102, 24, &[]),
    pass("geteuid", 107, 49, &[]),
    pass("getgid", 104, 47, &[]),
    pass("getegid", 108, 50, &[]),
    pass("setuid", 105, 23, &[N]),
    pass("setgid", 106, 46, &[N]),
    pass("setreuid", 113, 70, &[N, N]),
    pass("setregid", 114, 71, &[N, N]),
    pass("setresuid", 117, 164, &[N, N, N]),
    pass("setresgid", 119, 169, &[N, N, N]),
    pass("getresuid", 118, 165, &[Fill(INT), Fill(INT), Fill(INT)]),
    pass("getresgid", 120, 170, &[Fill(INT), Fill(INT), Fill(INT)]),
    own("getgroups", 115, -1, identity::getgroups),
    pass("setgroups", 116, -1, &[Size, List { count: 0, fields: INT, most: (65536, libc::EINVAL) }]),
    pass("setpgid", 109, 57, &[N, N]),
    pass("getpgid", 121, 132, &[N]),
    pass("getpgrp", 111, 65, &[]),
    pass("setsid", 112, 66, &[]),
    pass("getsid", 124, 147, &[N]),
    pass("getpriority", 140, 96, &[N, N]),
    pass("setpriority", 141, 97, &[N, N, N]),
    inside("sched_yield", 24, 158, identity::sched_yield),
    pass("sched_getaffinity", 204, 223, &[N, Size, Out(1)]),
    pass("sched_setaffinity", 203, -1, &[N, Size, In(1)]),
    pass("sched_getscheduler", 145, 157, &[N]),
    pass("sched_getparam", 143, 155, &[N, Fill(INT)]),
    pass("sched_setscheduler", 144, 156, &[N, N, Give(INT)]),
    pass("sched_setparam", 142, -1, &[N, Give(INT)]),
    pass("sched_rr_get_interval", 148, -1, &[N, Fill(TIME)]),
    pass("sched_get_priority_max", 146, 159, &[N]),
    pass("sched_get_priority_min", 147, 160, &[N]),
    pass("getcpu", 309, 302, &[Fill(INT), Fill(INT)]),
    own("capget", 125, -1, identity::capget),
    own("capset", 126, -1, identity::capset),
    pass("setfsuid", 122, -1, &[N]),
    pass("setfsgid", 123, -1, &[N]),
    pass("personality", 135, 136, &[N]),
    pass("getrusage", 98, 77, &[N, FillWords(18)]),
    own("sysinfo", 99, 116, identity::sysinfo),
    own("uname", 63, 122, identity::uname),
    either("prlimit64", [302, 325], limits::is_own_prlimit, limits::prlimit_inside, limits::prlimit),
    either("getrlimit", [97, -1], limits::is_own_limit, limits::getrlimit_inside, limits::getrlimit),
    either("ugetrlimit", [-1, 190], limits::is_own_limit, limits::getrlimit_inside, limits::getrlimit),
    either("setrlimit", [160, 75], limits::is_own_limit, limits::setrlimit_inside, limits::setrlimit),
    row(
        "prctl",
        157,
        171,
        How::Either { is_inside: identity::is_inside, inside: identity::own_prctl, outside: identity::prctl },
    ),
    inside("arch_prctl", 158, -1, identity::arch_prctl),
    row(
        "futex",
        202,
        221,
        How::Either { is_inside: lock::is_private, inside: lock::futex, outside: lock::shared_futex },
    ),
    row(
        "futex_time64",
        -1,
        422,
        How::Either { is_inside: lock::is_private, inside: lock::futex, outside: lock::shared_futex },
    ),
    inside("set_tid_address", 218, 232, identity::set_tid_address),
    inside("set_robust_list", 273, 300, robust::set),
    inside("get_robust_list", 274, 299, robust::get),
    pass("getrandom", 318, 359, &[Out(1), Size, N]),
    pass("pidfd_open", 434, 434, &[N, N]),
    pass("pidfd_send_signal", 424, 424, &[N, N, Give(SIGINFO), N]),
    pass("kcmp", 312, -1, &[N, N, N, N, N]),
    refuse("rseq", 334, 387, libc::ENOSYS),
    refuse("futex_waitv", 449, 449, libc::ENOSYS),
    refuse("name_to_handle_at", 303, -1, libc::EOPNOTSUPP),
    refuse("fanotify_init", 300, -1, libc::ENOSYS),
    refuse("io_setup", 206, -1, libc::ENOSYS),
    refuse("process_madvise", 440, -1, libc::ENOSYS),
    refuse("sched_setattr", 314, -1, libc::ENOSYS),
    refuse("sched_getattr", 315, -1, libc::ENOSYS),
    refuse("add_key", 248, -1, libc::ENOSYS),
    refuse("request_key", 249, -1, libc::ENOSYS),
    refuse("seccomp", 317, 358, libc::EINVAL),
    refuse("ptrace", 101, 26, libc::EPERM),
    refuse("io_uring_setup", 425, 425, libc::ENOSYS),
    refuse("perf_event_open", 298, 319, libc::ENOSYS),
    refuse("bpf", 321, 361, libc::ENOSYS),
    refuse("landlock_create_ruleset", 444, 444, libc::ENOSYS),
    refuse("ioprio_get", 252, 274, libc::ENOSYS),
    refuse("ioprio_set", 251, 273, libc::ENOSYS),
    refuse("syslog", 103, 103, libc::EPERM),
    refuse("keyctl", 250, 271, libc::ENOSYS),
    refuse("map_shadow_stack", 453, 453, libc::ENOSYS),
    // What a kernel may have been built without, or is too old for: programs are prepared for that.
    refuse("uselib", 134, -1, libc::ENOSYS),
    refuse("sysfs", 139, -1, libc::ENOSYS),
    refuse("modify_ldt", 154, -1, libc::ENOSYS),
    refuse("_sysctl", 156, -1, libc::ENOSYS),
    refuse("acct", 163, -1, libc::ENOSYS),
    refuse("swapon", 167, -1, libc::ENOSYS),
    refuse("swapoff", 168, -1, libc::ENOSYS),
    refuse("iopl", 172, -1, libc::ENOSYS),
    refuse("ioperm", 173, -1, libc::ENOSYS),
    refuse("create_module", 174, -1, libc::ENOSYS),
    refuse("init_module", 175, -1, libc::ENOSYS),
    refuse("delete_module", 176, -1, libc::ENOSYS),
    refuse("get_kernel_syms", 177, -1, libc::ENOSYS),
    refuse("query_module", 178, -1, libc::ENOSYS),
    refuse("quotactl", 179, -1, libc::ENOSYS),
    refuse("nfsservctl", 180, -1, libc::ENOSYS),
    refuse("getpmsg", 181, -1, libc::ENOSYS),
    refuse("putpmsg", 182, -1, libc::ENOSYS),
    refuse("afs_syscall", 183, -1, libc::ENOSYS),
    refuse("tuxcall", 184, -1, libc::ENOSYS),
    refuse("security", 185, -1, libc::ENOSYS),
    refuse("io_destroy", 207, -1, libc::ENOSYS),
    refuse("io_getevents", 208, -1, libc::ENOSYS),
    refuse("io_submit", 209, -1, libc::ENOSYS),
    refuse("io_cancel", 210, -1, libc::ENOSYS),
    refuse("lookup_dcookie", 212, -1, libc::ENOSYS),
    refuse("epoll_ctl_old", 214, -1, libc::ENOSYS),
    refuse("epoll_wait_old", 215, -1, libc::ENOSYS),
    refuse("remap_file_pages", 216, -1, libc::ENOSYS),
    refuse("vserver", 236, -1, libc::ENOSYS),
    refuse("kexec_load", 246, -1, libc::ENOSYS),
    refuse("migrate_pages", 256, -1, libc::ENOSYS),
    refuse("move_pages", 279, -1, libc::ENOSYS),
    refuse("fanotify_mark", 301, -1, libc::ENOSYS),
    refuse("open_by_handle_at", 304, -1, libc::ENOSYS),
    refuse("clock_adjtime", 305, -1, libc::ENOSYS),
    refuse("finit_module", 313, -1, libc::ENOSYS),
    refuse("kexec_file_load", 320, -1, libc::ENOSYS),
    refuse("execveat", 322, -1, libc::ENOSYS),
    refuse("pkey_mprotect", 329, -1, libc::ENOSYS),
    refuse("pkey_free", 331, -1, libc::ENOSYS),
    refuse("io_pgetevents", 333, -1, libc::ENOSYS),
    refuse("io_uring_enter", 426, -1, libc::ENOSYS),
    refuse("io_uring_register", 427, -1, libc::ENOSYS),
    refuse("open_tree", 428, -1, libc::ENOSYS),
    refuse("move_mount", 429, -1, libc::ENOSYS),
    refuse("fsopen", 430, -1, libc::ENOSYS),
    refuse("fsconfig", 431, -1, libc::ENOSYS),
    refuse("fsmount", 432, -1, libc::ENOSYS),
    refuse("fspick", 433, -1, libc::ENOSYS),
    refuse("pidfd_getfd", 438, -1, libc::ENOSYS),
    refuse("mount_setattr", 442, -1, libc::ENOSYS),
    refuse("quotactl_fd", 443, -1, libc::ENOSYS),
    refuse("landlock_add_rule", 445, -1, libc::ENOSYS),
    refuse("landlock_restrict_self", 446, -1, libc::ENOSYS),
    refuse("memfd_secret", 447, -1, libc::ENOSYS),
    refuse("process_mrelease", 448, -1, libc::ENOSYS),
    refuse("set_mempolicy_home_node", 450, -1, libc::ENOSYS),
    pass("chroot", 161, 61, &[P]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A number used twice would silently shadow a call; a wrong one would make another.
    #[test]
    fn numbers_are_unique() {
        for machine in [Machine::X86_64, Machine::PowerPc] {
            let number = |row: &Row| row.numbers[machine.abi().column];
            let mut seen = std::collections::HashMap::new();
            for row in ROWS.iter().filter(|row| number(row) >= 0) {
                if let Some(other) = seen.insert(number(row), row.name) {
                    panic!("{machine:?} {} is both {other} and {}", number(row), row.name);
                }
            }
        }
    }

    /// The numbers against the C library's own list (a sample of each group).
    #[test]
    fn numbers_are_those_of_the_host() {
        for (name, number) in [
            ("read", libc::SYS_read),
            ("statx", libc::SYS_statx),
            ("copy_file_range", libc::SYS_copy_file_range),
            ("pselect6", libc::SYS_pselect6),
            ("epoll_pwait", libc::SYS_epoll_pwait),
            ("getsockopt", libc::SYS_getsockopt),
            ("mremap", libc::SYS_mremap),
            ("sigaltstack", libc::SYS_sigaltstack),
            ("clock_nanosleep", libc::SYS_clock_nanosleep),
            ("waitid", libc::SYS_waitid),
            ("prlimit64", libc::SYS_prlimit64),
            ("faccessat2", libc::SYS_faccessat2),
            ("getrandom", libc::SYS_getrandom),
            ("sched_getaffinity", libc::SYS_sched_getaffinity),
            ("fgetxattr", libc::SYS_fgetxattr),
        ] {
            let row = find(Machine::X86_64, number as u64).unwrap();
            assert_eq!(row.name, name);
        }
    }

    #[test]
    fn structures_have_the_sizes_of_the_host() {
        let size = |fields: &[u8]| fields.iter().map(|size| usize::from(*size)).sum::<usize>();
        assert_eq!(size(STAT), size_of::<libc::stat>());
        assert_eq!(size(STATX), size_of::<libc::statx>());
        assert_eq!(size(STATFS), size_of::<libc::statfs>());
        assert_eq!(size(USAGE), size_of::<libc::rusage>());
        assert_eq!(size(SIGINFO), size_of::<libc::siginfo_t>());
        assert_eq!(size(TIME), size_of::<libc::timespec>());
    }
}
