//! What an explored program may do to the world outside: nothing.
//!
//! An explorer invents arguments: a program that removes `argv[1]` gets names that nobody chose. So every run has a world of
//! its own, a view of the file system that is copied where it is written, with a network of its own. What would leave that
//! world ends the run with its reason, which is a bound of the exploration. Before a run has entered its view, or where the
//! kernel makes none, changes end the run as well.

use crate::descriptors::{descriptors, identity};
use parallax_process::Process;
use parallax_process::outside::Call;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// What holds a run's effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Nothing: any change ends the run.
    #[default]
    Outside,
    /// A view of its own. With addresses that may be reached, it has the network of the machine.
    View(Vec<SocketAddr>),
    /// The real world, by a person's word.
    Real,
}

/// Devices that hold nothing.
const NOTHING: [&[u8]; 3] = [b"/dev/null", b"/dev/zero", b"/dev/full"];

/// Calls that leave everything outside as it is, whatever their arguments: they ask, or touch this process alone. Reads are here; what
/// is read from an inherited descriptor is gone for others, as it is natively.
const HARMLESS: &[&str] = &[
    "read",
    "readv",
    "pread64",
    "preadv",
    "preadv2",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "statx",
    "lseek",
    "access",
    "faccessat",
    "faccessat2",
    "pipe",
    "pipe2",
    "dup",
    "dup2",
    "dup3",
    "close",
    "close_range",
    "getdents",
    "getdents64",
    "getcwd",
    "chdir",
    "fchdir",
    "umask",
    "statfs",
    "fstatfs",
    "readlink",
    "readlinkat",
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "listxattr",
    "llistxattr",
    "flistxattr",
    "memfd_create",
    "inotify_init",
    "inotify_init1",
    "inotify_add_watch",
    "inotify_rm_watch",
    "eventfd",
    "eventfd2",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "socketpair",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "accept",
    "accept4",
    "getsockname",
    "getpeername",
    "getsockopt",
    "readahead",
    "fadvise64",
    "sync",
    "syncfs",
    "fsync",
    "fdatasync",
    "madvise",
    "msync",
    "membarrier",
    "rt_sigpending",
    "rt_sigtimedwait",
    "alarm",
    "getitimer",
    "setitimer",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_getoverrun",
    "timer_delete",
    "signalfd",
    "signalfd4",
    "time",
    "gettimeofday",
    "clock_gettime",
    "clock_getres",
    "nanosleep",
    "clock_nanosleep",
    "times",
    "wait4",
    "waitid",
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "getresuid",
    "getresgid",
    "getgroups",
    "setgroups",
    "getpgid",
    "getpgrp",
    "setsid",
    "getsid",
    "getpriority",
    "sched_getaffinity",
    "sched_getscheduler",
    "sched_getparam",
    "sched_rr_get_interval",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "getcpu",
    "capget",
    "capset",
    "setfsuid",
    "setfsgid",
    "personality",
    "getrusage",
    "sysinfo",
    "uname",
    "getrlimit",
    "setrlimit",
    "prctl",
    "futex",
    "getrandom",
    "pidfd_open",
    "process_vm_readv",
    "process_vm_writev",
];

/// Calls that change what a descriptor leads to, with the position of the descriptor: fine if the program opened it.
const BY_DESCRIPTOR: &[(&str, usize)] = &[
    ("write", 0),
    ("writev", 0),
    ("pwrite64", 0),
    ("pwritev", 0),
    ("pwritev2", 0),
    ("vmsplice", 0),
    ("sendfile", 0),
    ("splice", 2),
    ("tee", 1),
    ("copy_file_range", 2),
    ("ftruncate", 0),
    ("fallocate", 0),
    ("sync_file_range", 0),
    ("fchmod", 0),
    ("fchown", 0),
    ("fsetxattr", 0),
    ("fremovexattr", 0),
    ("ioctl", 0),
    ("fcntl", 0),
    ("flock", 0),
    ("sendto", 0),
    ("sendmsg", 0),
    ("sendmmsg", 0),
    ("connect", 0),
    ("setsockopt", 0),
    ("shutdown", 0),
];

/// Requests of `ioctl` that ask alone, of terminals, pipes and files.
const QUESTIONS_TO_DEVICES: [u64; 8] = [
    libc::TCGETS,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::TIOCGSID,
    libc::TIOCOUTQ,
    libc::FIONREAD,
    0x802c_542a, // TCGETS2
    0x8008_6601, // FS_IOC_GETFLAGS
];

/// Commands of `fcntl` that ask alone, or change what belongs to the number and not to the file.
const QUESTIONS_TO_DESCRIPTORS: [i32; 9] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_GETLK,
    libc::F_GETOWN,
    libc::F_GETPIPE_SZ,
    libc::F_GET_SEALS,
];

/// Why a call would leave the world of a run, if it would. `inherited` are the files behind descriptors that were open before the
/// program was.
pub fn leaves(
    world: &World,
    inherited: &[(u64, u64)],
    process: &mut Process,
    name: &str,
    call: &Call,
) -> Option<String> {
    let network = match world {
        World::Real => return None,
        World::Outside => {
            if let Some(why) = changes(inherited, process, name, call) {
                return Some(why);
            }
            Network::None
        }
        World::View(allowed) if allowed.is_empty() => Network::Own,
        World::View(allowed) => Network::Shared(allowed),
    };
    other_process(name, call)
        .or_else(|| signals_another(process, name, call))
        .or_else(|| goes_out(&network, process, name, call))
        .or_else(|| changes_the_explorer(process, name, call))
        .or_else(|| opens_a_pipe_outside(process, name, call))
}

/// Why an answer tells less than the world outside would, if it does: parts of a view cannot be changed, it has more borders than
/// the real file system, and the emulator refuses two files about a process that the kernel lets it open.
pub fn is_hindered(
    world: &World,
    process: &mut Process,
    name: &str,
    call: &Call,
    errno: i32,
) -> Option<String> {
    let moves = matches!(name, "rename" | "renameat" | "renameat2" | "link" | "linkat");
    match (world, errno) {
        (World::View(_), libc::EROFS) => Some(format!("{name} where the layer is read-only")),
        (World::View(_), libc::EXDEV) if moves => {
            Some(format!("{name} of a folder, or between folders, which the layer cannot do"))
        }
        (_, libc::EACCES) if opens_itself(process, name, call) => {
            Some(format!("{name} of the memory or the name of a process, which the emulator refuses"))
        }
        _ => None,
    }
}

/// Whether a call opens what may be `/proc/self/mem` or `comm`, by its last name.
fn opens_itself(process: &mut Process, name: &str, call: &Call) -> bool {
    let path = match name {
        "open" => call.arguments[0],
        "openat" | "openat2" => call.arguments[1],
        _ => return false,
    };
    let path = process.world().memory.read_string(path, 4095).ok().flatten().unwrap_or_default();
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    matches!(last, b"mem" | b"comm")
}

/// Whether opening a file with these flags changes it, or makes it.
pub fn opens_to_change(flags: u64) -> bool {
    flags as i32 & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0
}

/// Why a call may change files, or make something that others can find. A call that stands in no list may.
fn changes(inherited: &[(u64, u64)], process: &mut Process, name: &str, call: &Call) -> Option<String> {
    let [first, second, third, ..] = call.arguments;
    let is_fine = match name {
        "open" | "openat" => {
            let (path, flags) = if name == "open" { (first, second) } else { (second, third) };
            let path = process.world().memory.read_string(path, 4095).ok().flatten().unwrap_or_default();
            !opens_to_change(flags) || NOTHING.contains(&path.as_slice())
        }
        // These have rules of their own below.
        "socket" | "bind" => true,
        "kill" | "tkill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo" | "prlimit64"
        | "setpriority" | "sched_setaffinity" | "sched_setscheduler" | "sched_setparam" => true,
        "setpgid" => first == 0,
        // Times of a descriptor.
        "utimensat" if second == 0 => !is_inherited(inherited, first),
        // A question, without a mode.
        "adjtimex" => process.peek(first, 4) == [0; 4],
        "ioctl" if QUESTIONS_TO_DEVICES.contains(&(second & 0xffff_ffff)) => true,
        "fcntl" if QUESTIONS_TO_DESCRIPTORS.contains(&(second as i32)) => true,
        _ => match BY_DESCRIPTOR.iter().find(|(known, _)| *known == name) {
            Some((_, position)) => !is_inherited(inherited, call.arguments[*position]),
            None => HARMLESS.contains(&name),
        },
    };
    (!is_fine).then(|| format!("{name}, which changes the world outside, and there is no layer for it here"))
}

/// Whether a call may leave something in a view that is there when the process has ended. What can only be written through a descriptor
/// was opened to be written, so a write by itself leaves no trace. A call that stands in no list may leave one.
pub fn leaves_a_trace(process: &mut Process, name: &str, call: &Call) -> bool {
    const THROUGH_A_DESCRIPTOR: [&str; 16] = [
        "write",
        "writev",
        "pwrite64",
        "pwritev",
        "pwritev2",
        "vmsplice",
        "sendfile",
        "splice",
        "tee",
        "copy_file_range",
        "ftruncate",
        "fallocate",
        "sync_file_range",
        "sendto",
        "sendmsg",
        "sendmmsg",
    ];
    let [first, second, third, ..] = call.arguments;
    match name {
        "open" | "openat" => {
            let (path, flags) = if name == "open" { (first, second) } else { (second, third) };
            let path = process.world().memory.read_string(path, 4095).ok().flatten().unwrap_or_default();
            opens_to_change(flags) && !NOTHING.contains(&path.as_slice())
        }
        "ioctl" => !QUESTIONS_TO_DEVICES.contains(&(second & 0xffff_ffff)),
        "fcntl" => !QUESTIONS_TO_DESCRIPTORS.contains(&(second as i32)),
        _ => !THROUGH_A_DESCRIPTOR.contains(&name) && !HARMLESS.contains(&name),
    }
}

/// Whether a descriptor leads to a file that this process had open before it was the program's.
fn is_inherited(inherited: &[(u64, u64)], descriptor: u64) -> bool {
    identity(descriptor as i32).is_some_and(|file| inherited.contains(&file))
}

/// The files behind the descriptors that are open now, but for devices that hold nothing.
pub fn open_files() -> Vec<(u64, u64)> {
    let device = |path: &[u8]| {
        std::fs::metadata(std::ffi::OsStr::from_bytes(path)).ok().map(|known| (known.dev(), known.ino()))
    };
    let nothing: Vec<_> = NOTHING.iter().filter_map(|path| device(path)).collect();
    let files = descriptors().into_iter().filter_map(identity);
    files.filter(|file| !nothing.contains(file)).collect()
}

/// Bytes that a run may put into one file, and into memory of System V.
pub const MOST_BYTES: u64 = 1 << 30;
/// Files without a name that a run may make.
const MOST_NAMELESS: u64 = 4;

/// What a run has made that lies in memory and in no file system of its view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    nameless: u64,
    segments: u64,
}

impl Made {
    /// Why a call would take more memory than a run may have, if it would.
    pub fn too_much(&mut self, world: &World, name: &str, call: &Call) -> Option<String> {
        let [_, second, third, fourth, ..] = call.arguments;
        let is_too_much = match name {
            _ if *world == World::Real => false,
            "memfd_create" => {
                self.nameless += 1;
                self.nameless > MOST_NAMELESS
            }
            "shmget" => {
                self.segments = self.segments.saturating_add(second);
                self.segments > MOST_BYTES
            }
            "ftruncate" => second > MOST_BYTES && second <= i64::MAX as u64,
            "fallocate" => third.saturating_add(fourth) > MOST_BYTES && third.max(fourth) <= i64::MAX as u64,
            _ => false,
        };
        is_too_much.then(|| format!("{name}, for more memory than a run may take"))
    }
}

/// A descriptor can signal another process when it is ready, or when a file is opened elsewhere.
fn signals_another(process: &mut Process, name: &str, call: &Call) -> Option<String> {
    const OWNER_AND_KIND: i32 = 15;
    if name != "fcntl" {
        return None;
    }
    let [_, command, value, ..] = call.arguments;
    let owner = match command as i32 {
        libc::F_SETOWN => value as i32,
        OWNER_AND_KIND => {
            let bytes = process.peek(value.wrapping_add(4), 4);
            bytes.try_into().map_or(0, i32::from_ne_bytes)
        }
        libc::F_SETLEASE => return Some(String::from("fcntl with a lease, which others wait for")),
        _ => return None,
    };
    let own = u32::try_from(owner).is_ok_and(|owner| owner == 0 || owner == std::process::id());
    (!own && !is_own_thread(owner as u64))
        .then(|| format!("fcntl that signals process {owner}, which is not its own"))
}

/// The program that explores is the run's own (`/proc/self/exe`), and lies outside every view.
fn changes_the_explorer(process: &mut Process, name: &str, call: &Call) -> Option<String> {
    const HERE: u64 = libc::AT_FDCWD as u64;
    const SET_FLAGS: u64 = 0x4008_6602;
    let [first, second, third, fourth, ..] = call.arguments;
    let (folder, path) = match name {
        "open" if opens_to_change(second) => (HERE, Some(first)),
        "openat" if opens_to_change(third) => (first, Some(second)),
        "openat2" | "fchmodat" | "fchmodat2" | "fchownat" | "futimesat" | "utimensat" => {
            (first, Some(second))
        }
        "truncate" | "chmod" | "chown" | "utime" | "utimes" | "setxattr" | "removexattr" => {
            (HERE, Some(first))
        }
        // A hard link would be a second name of it.
        "linkat" if fourth != 0 => (first, Some(second)),
        "fchmod" | "fchown" | "fsetxattr" | "fremovexattr" | "ftruncate" | "fallocate" => (first, None),
        "ioctl" if second & 0xffff_ffff == SET_FLAGS => (first, None),
        _ => return None,
    };
    let folder = folder as i32;
    let file = match path.filter(|path| *path != 0) {
        None => identity(folder),
        Some(path) => {
            let path = process.world().memory.read_string(path, 4095).ok().flatten()?;
            // By its usual names the file of the program itself is meant, which the emulator sees to.
            let is_own = path
                .strip_prefix(b"/proc/")
                .and_then(|rest| rest.strip_suffix(b"/exe"))
                .is_some_and(|name| {
                    let number = std::process::id().to_string();
                    [&b"self"[..], b"thread-self", number.as_bytes()].contains(&name)
                });
            if is_own {
                return None;
            }
            // An empty path can mean the descriptor itself.
            if path.is_empty() { identity(folder) } else { identity_at(folder, &path) }
        }
    };
    let explorer = identity_at(libc::AT_FDCWD, b"/proc/self/exe");
    (file.is_some() && file == explorer).then(|| format!("{name} of the file of the program that explores"))
}

/// Parts of a view that cannot be copied are the real ones, read-only; but what goes through a named pipe there is no change of
/// a file.
fn opens_a_pipe_outside(process: &mut Process, name: &str, call: &Call) -> Option<String> {
    let [first, second, ..] = call.arguments;
    let (folder, path) = match name {
        "open" => (libc::AT_FDCWD, first),
        "openat" | "openat2" => (first as i32, second),
        _ => return None,
    };
    let path = process.world().memory.read_string(path, 4095).ok().flatten()?;
    let is_pipe = known_at(folder, &path).is_some_and(|known| known.st_mode & libc::S_IFMT == libc::S_IFIFO);
    (is_pipe && is_read_only(folder, &path))
        .then(|| format!("{name} of a named pipe that lies outside the layer"))
}

/// Whether a path leads to where the view is read-only.
fn is_read_only(folder: i32, path: &[u8]) -> bool {
    let Ok(path) = std::ffi::CString::new(path) else { return false };
    // SAFETY: the path ends with a zero; the structure is made of numbers, and the calls fill it.
    unsafe {
        let file = libc::openat(folder, path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        let mut system: libc::statvfs = std::mem::zeroed();
        let read_only =
            file >= 0 && libc::fstatvfs(file, &raw mut system) == 0 && system.f_flag & libc::ST_RDONLY != 0;
        libc::close(file);
        read_only
    }
}

/// Which file a path leads to, through links.
fn identity_at(folder: i32, path: &[u8]) -> Option<(u64, u64)> {
    known_at(folder, path).map(|known| (known.st_dev, known.st_ino))
}

fn known_at(folder: i32, path: &[u8]) -> Option<libc::stat> {
    let path = std::ffi::CString::new(path).ok()?;
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut known: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and the call writes only what it is handed.
    let failed = unsafe { libc::fstatat(folder, path.as_ptr(), &raw mut known, 0) } != 0;
    (!failed).then_some(known)
}

/// Calls on another process. The process numbers of a run are those of the machine.
fn other_process(name: &str, call: &Call) -> Option<String> {
    let [first, second, ..] = call.arguments;
    let target = match name {
        "rt_sigqueueinfo" | "rt_tgsigqueueinfo" | "prlimit64" | "sched_setaffinity"
        | "sched_setscheduler" | "sched_setparam" | "sched_setattr" | "kill" | "tgkill" | "tkill"
        | "migrate_pages" | "move_pages" => first,
        "setpriority" if first == 0 => second,
        "ioprio_set" if first == 1 => second,
        "setpriority" | "ioprio_set" => u64::MAX,
        "pidfd_send_signal" | "pidfd_getfd" | "process_vm_readv" | "process_vm_writev" | "ptrace"
        | "kcmp" | "process_madvise" | "mount" | "umount2" | "setns" | "unshare" => {
            return Some(format!("{name}, which reaches other processes"));
        }
        _ => return None,
    };
    let own = target == 0 || target == u64::from(std::process::id()) || is_own_thread(target);
    (!own).then(|| format!("{name} of process {}, which is not its own", target as i32))
}

fn is_own_thread(target: u64) -> bool {
    std::path::Path::new(&format!("/proc/self/task/{target}")).exists()
}

/// Which network a run has.
enum Network<'a> {
    /// None that it may use.
    None,
    /// One with itself.
    Own,
    /// The machine's, and these addresses of it.
    Shared(&'a [SocketAddr]),
}

/// Options of Internet sockets that say how messages are sent, and not where to.
const OPTIONS_OF_PACKETS: [i32; 5] =
    [libc::IP_TOS, libc::IP_TTL, libc::IP_MTU_DISCOVER, libc::IP_RECVERR, libc::IP_PKTINFO];
const OPTIONS_OF_PACKETS_6: [i32; 5] = [
    libc::IPV6_UNICAST_HOPS,
    libc::IPV6_V6ONLY,
    libc::IPV6_TCLASS,
    libc::IPV6_RECVERR,
    libc::IPV6_RECVPKTINFO,
];

/// Messages that would leave the network of a run.
fn goes_out(network: &Network<'_>, process: &mut Process, name: &str, call: &Call) -> Option<String> {
    let [first, second, third, _, fifth, sixth] = call.arguments;
    let (at, length) = match name {
        "socket" => return of_another_kind(network, first as i32, second as i32, third as i32),
        "listen" if !matches!(network, Network::Own) => {
            // Without a name that was given, the kernel takes a free port.
            let family = family(first as i32);
            return (family != Some(libc::AF_UNIX)).then(|| format!("{name}, where others can connect"));
        }
        "setsockopt" if matches!(network, Network::Shared(_)) => {
            // Others make the kernel send messages of its own (groups), or name further stations (routes).
            let (level, option) = (second as i32, third as i32);
            let is_known = match level {
                libc::IPPROTO_IP => OPTIONS_OF_PACKETS.contains(&option),
                libc::IPPROTO_IPV6 => OPTIONS_OF_PACKETS_6.contains(&option),
                _ => true,
            };
            return (!is_known)
                .then(|| format!("setsockopt {option} of level {level}, which can send messages"));
        }
        "connect" | "bind" => (second, third),
        "sendto" if fifth != 0 => (fifth, sixth),
        "sendmsg" => {
            let header = process.peek(second, 16);
            let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
            let (at, length) = (word(header.get(..8)?), word(header.get(8..16)?) & 0xffff_ffff);
            if at == 0 {
                return None;
            }
            (at, length)
        }
        "sendmmsg" if !matches!(network, Network::Own) => {
            return Some(String::from("sendmmsg, which sends messages"));
        }
        _ => return None,
    };
    // A length is 32 bits. Where no family is named, some calls take the one of the socket, and some undo a connection.
    let mut bytes = process.peek(at, (length & 0xffff_ffff).min(128));
    if bytes.get(..2) == Some(&[0; 2]) && name != "connect" {
        let family = family(first as i32).and_then(|family| u16::try_from(family).ok()).unwrap_or_default();
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
    }
    let address = Address::read(&bytes);
    let is_bind = name == "bind";
    let fine = match (network, &address) {
        // What the kernel refuses, and what undoes a connection.
        (_, Address::None) => true,
        // To the kernel itself, of a view's own network or without the right to change the machine's.
        (_, Address::Kernel) => !matches!(network, Network::None),
        (_, Address::Other) => false,
        (Network::None, _) => false,
        (Network::Own, Address::Internet(address)) => {
            is_bind || address.ip().is_loopback() || address.ip().is_unspecified()
        }
        // Of the sockets of parts that are the real ones, read-only, the real listener answers.
        (Network::Own | Network::Shared(_), Address::Path(path)) => {
            is_bind || !is_read_only(libc::AT_FDCWD, path)
        }
        (Network::Own, _) => true,
        (Network::Shared(allowed), Address::Internet(address)) => !is_bind && allowed.contains(address),
        (Network::Shared(_), Address::Hidden) => false,
    };
    let hint = |address: &SocketAddr| {
        format!("{name} to {address}, which is outside; --allow-net {address} lets it")
    };
    (!fine).then(|| match address {
        Address::Internet(address) if is_bind => format!("bind to {address}, where others can connect"),
        Address::Internet(address) => hint(&address),
        Address::Path(path) => {
            let path = String::from_utf8_lossy(&path);
            format!("{name} to the socket {path}, and there is no layer for it here")
        }
        Address::Hidden => format!("{name} to an abstract socket"),
        Address::Kernel | Address::Other | Address::None => {
            format!("{name} to an address of a kind that no layer holds")
        }
    })
}

/// Where a message goes.
enum Address {
    Internet(SocketAddr),
    Path(Vec<u8>),
    Hidden,
    /// The kernel (netlink).
    Kernel,
    /// None: too short to be one.
    None,
    Other,
}

impl Address {
    fn read(bytes: &[u8]) -> Address {
        let family = bytes.get(..2).and_then(|two| two.try_into().ok()).map(u16::from_ne_bytes);
        let port = bytes.get(2..4).and_then(|two| two.try_into().ok()).map_or(0, u16::from_be_bytes);
        match family.map(i32::from) {
            Some(libc::AF_INET) => {
                let Some(four) = bytes.get(4..8).and_then(|four| <[u8; 4]>::try_from(four).ok()) else {
                    return Address::None;
                };
                Address::Internet(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(four)), port))
            }
            Some(libc::AF_INET6) => {
                let Some(all) = bytes.get(8..24).and_then(|all| <[u8; 16]>::try_from(all).ok()) else {
                    return Address::None;
                };
                let address = Ipv6Addr::from(all);
                let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
                Address::Internet(SocketAddr::new(address, port))
            }
            Some(libc::AF_UNIX) if bytes.get(2) == Some(&0) => Address::Hidden,
            Some(libc::AF_UNIX) => {
                let path = bytes[2..].split(|byte| *byte == 0).next().unwrap_or_default();
                Address::Path(path.to_vec())
            }
            Some(libc::AF_NETLINK) => Address::Kernel,
            Some(libc::AF_UNSPEC) | None => Address::None,
            Some(_) => Address::Other,
        }
    }
}

/// Why a socket cannot be had: only for some kinds it is known where their messages go.
fn of_another_kind(network: &Network<'_>, family: i32, kind: i32, protocol: i32) -> Option<String> {
    const KIND: i32 = 0xf;
    let is_held = match family {
        libc::AF_UNIX => true,
        libc::AF_INET | libc::AF_INET6 => matches!(kind & KIND, libc::SOCK_STREAM | libc::SOCK_DGRAM),
        // Programs ask it for the names of network interfaces.
        libc::AF_NETLINK => protocol == libc::NETLINK_ROUTE && !matches!(network, Network::None),
        _ => false,
    };
    (!is_held).then(|| format!("socket of family {family}, which no layer holds"))
}

/// The family of a socket.
fn family(socket: i32) -> Option<i32> {
    let mut family = 0;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the call writes at most as many bytes as the length says.
    let failed = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, (&raw mut family).cast(), &raw mut length)
    } != 0;
    (!failed).then_some(family)
}
