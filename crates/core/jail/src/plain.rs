//! System calls for the time between `clone` and `execve`: nothing here allocates, locks or panics, since the caller's other
//! threads are gone and may have left locks behind.

use crate::child::MOST_SEEN;
use std::ffi::CStr;
use std::os::fd::RawFd;

/// The kernel's answer, or the number of its error.
pub type Answer = Result<libc::c_long, i32>;

fn answer(result: libc::c_long) -> Answer {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: the place of the number of the last error is always there.
    Err(unsafe { *libc::__errno_location() })
}

/// Whether an answer was an error, with the step that it was.
pub fn at<T>(step: u32, result: Result<T, i32>) -> Result<T, (u32, i32)> {
    result.map_err(|errno| (step, errno))
}

/// A copy of this process, with new name spaces as the flags say.
pub fn clone(flags: libc::c_int) -> Answer {
    // SAFETY: without CLONE_VM the new process has memory of its own; it goes on here, on a copy of the stack.
    answer(unsafe {
        libc::syscall(libc::SYS_clone, (flags | libc::SIGCHLD) as usize, 0usize, 0usize, 0usize, 0usize)
    })
}

/// Ends this process without cleaning up.
pub fn exit(status: i32) -> ! {
    // SAFETY: it does not come back.
    unsafe { libc::_exit(status) }
}

pub fn mkdir(path: &CStr, mode: u32) -> Answer {
    // SAFETY: the path ends with a NUL.
    match answer(unsafe { libc::mkdir(path.as_ptr(), mode) }.into()) {
        Err(libc::EEXIST) => Ok(0),
        other => other,
    }
}

pub fn remove_folder(path: &CStr) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::rmdir(path.as_ptr()) }.into())
}

pub fn chmod(path: &CStr, mode: u32) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::chmod(path.as_ptr(), mode) }.into())
}

pub fn symlink(target: &CStr, path: &CStr) -> Answer {
    // SAFETY: both paths end with a NUL.
    answer(unsafe { libc::symlink(target.as_ptr(), path.as_ptr()) }.into())
}

pub fn chdir(path: &CStr) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::chdir(path.as_ptr()) }.into())
}

/// An empty file.
pub fn touch(path: &CStr) -> Answer {
    let opened = open(path, libc::O_CREAT | libc::O_WRONLY)?;
    close(opened as RawFd);
    Ok(0)
}

pub fn open(path: &CStr, flags: i32) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600 as libc::c_uint) }.into())
}

pub fn close(descriptor: RawFd) {
    // SAFETY: a number; if it is not open, the kernel says so.
    unsafe { libc::close(descriptor) };
}

/// Copies a small file.
pub fn copy(from: &CStr, to: &CStr, mode: u32) -> Answer {
    let source = open(from, libc::O_RDONLY)? as RawFd;
    let target = open(to, libc::O_CREAT | libc::O_WRONLY)? as RawFd;
    let copied = loop {
        // SAFETY: both are open; the kernel keeps the position.
        match answer(unsafe { libc::sendfile(target, source, std::ptr::null_mut(), 1 << 20) } as libc::c_long)
        {
            Ok(0) => break Ok(0),
            Ok(_) => {}
            Err(errno) => break Err(errno),
        }
    };
    // SAFETY: the descriptor is open.
    unsafe { libc::fchmod(target, mode) };
    close(source);
    close(target);
    copied
}

pub fn mount(from: &CStr, on: &CStr, system: &CStr, flags: libc::c_ulong, options: &CStr) -> Answer {
    // SAFETY: all four end with a NUL.
    answer(
        unsafe { libc::mount(from.as_ptr(), on.as_ptr(), system.as_ptr(), flags, options.as_ptr().cast()) }
            .into(),
    )
}

/// Makes what is mounted at a path, and below it, read-only, without devices.
pub fn read_only(path: &CStr) -> Answer {
    // Read-only, no set-user-ID, no devices.
    set_attributes(path, 1 | 2 | 4)
}

/// Keeps the mode, owner and times of a device as they are. It can be read and written: what is written goes to no file system.
pub fn keep_device(path: &CStr) -> Answer {
    // Read-only, no set-user-ID, no programs.
    set_attributes(path, 1 | 2 | 8)
}

fn set_attributes(path: &CStr, set: u64) -> Answer {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user: u64,
    }
    const RECURSIVE: libc::c_uint = 0x8000;
    let attributes = Attributes { set, clear: 0, propagation: 0, user: 0 };
    // SAFETY: the path ends with a NUL, and the size is that of the structure.
    answer(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            RECURSIVE,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
}

/// Makes a folder the root, with the old root at `outside`, a folder below the current folder, which becomes `/`.
pub fn pivot_keeping(outside: &CStr) -> Answer {
    // SAFETY: both paths end with a NUL.
    answer(unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), outside.as_ptr()) })?;
    chdir(c"/")
}

/// Makes a folder the root of this process alone.
pub fn change_root(path: &CStr) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::chroot(path.as_ptr()) }.into())
}

/// Gives this process a mount name space of its own, a copy of the one that it is in.
pub fn leave_mounts() -> Answer {
    // SAFETY: numbers.
    answer(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())
}

/// Takes away what is mounted at a path.
pub fn unmount(path: &CStr) -> Answer {
    // SAFETY: the path ends with a NUL.
    answer(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) }.into())
}

pub fn rename(from: &CStr, to: &CStr) -> Answer {
    // SAFETY: both paths end with a NUL.
    answer(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }.into())
}

/// Makes the current folder the root, and forgets the old one.
pub fn pivot() -> Answer {
    let here = c".".as_ptr();
    // SAFETY: both paths end with a NUL.
    answer(unsafe { libc::syscall(libc::SYS_pivot_root, here, here) })?;
    // SAFETY: as above.
    answer(unsafe { libc::umount2(here, libc::MNT_DETACH) }.into())?;
    chdir(c"/")
}

/// Closes all descriptors but these, which are in ascending order.
pub fn close_all_but(kept: &[RawFd]) -> Answer {
    let mut from = 0u32;
    for descriptor in kept.iter().map(|descriptor| *descriptor as u32).chain([u32::MAX]) {
        if descriptor > from {
            let last = if descriptor == u32::MAX { u32::MAX } else { descriptor - 1 };
            // SAFETY: numbers.
            answer(unsafe { libc::syscall(libc::SYS_close_range, from, last, 0) })?;
        }
        from = descriptor.saturating_add(1);
    }
    Ok(0)
}

/// Copies a descriptor to a number of the standard streams, where it outlives `execve`.
pub fn stream(descriptor: RawFd, number: RawFd) -> Answer {
    // SAFETY: numbers.
    answer(unsafe { libc::dup2(descriptor, number) }.into())
}

pub fn set_limit(resource: u32, value: u64) -> Answer {
    let mut known = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both structures are ours; a pid of 0 is the caller.
    unsafe {
        libc::syscall(libc::SYS_prlimit64, 0, resource, std::ptr::null::<u8>(), &raw mut known);
    }
    let value = value.min(known.rlim_max);
    let limit = libc::rlimit64 { rlim_cur: value, rlim_max: value };
    // SAFETY: as above.
    answer(unsafe {
        libc::syscall(libc::SYS_prlimit64, 0, resource, &raw const limit, std::ptr::null::<u8>())
    })
}

pub fn prctl(option: i32, first: usize, second: usize) -> Answer {
    // SAFETY: only options whose arguments are numbers are asked for.
    answer(unsafe { libc::prctl(option, first, second, 0, 0) }.into())
}

/// Gives up all capabilities but these: for good, once `no_new_privs` is set. Then the kernel gives no program more than was permitted
/// before it, not to root either, so the bounding set need not be emptied one capability after the other.
pub fn keep_capabilities(kept: u64) -> Answer {
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    let header = Header { version: 0x2008_0522, process: 0 };
    let (low, high) = (kept as u32, (kept >> 32) as u32);
    let data = [[low, low, 0], [high, high, 0]];
    // SAFETY: this version takes two rows of effective, permitted and inheritable ones.
    answer(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) })
}

/// Signals do what they do by default, and none is blocked.
pub fn reset_signals() -> Answer {
    for signal in 1..=64 {
        // SAFETY: a disposition without a handler. Signals that cannot be set stay as they are.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    mask_child_signal(false)
}

/// Blocks the signal of children that end, or no signal.
pub fn mask_child_signal(blocked: bool) -> Answer {
    let mask: u64 = if blocked { 1 << (libc::SIGCHLD - 1) } else { 0 };
    // SAFETY: the kernel's set of signals is eight bytes.
    answer(unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            std::ptr::null::<u8>(),
            8usize,
        )
    })
}

/// A descriptor that can be read when a child ends.
pub fn child_signals() -> Answer {
    mask_child_signal(true)?;
    let mask: u64 = 1 << (libc::SIGCHLD - 1);
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: the kernel's set of signals is eight bytes.
    answer(unsafe { libc::syscall(libc::SYS_signalfd4, -1, &raw const mask, 8usize, flags) })
}

/// Reads and forgets.
pub fn drain(descriptor: RawFd) {
    let mut buffer = [0u8; 512];
    // SAFETY: the buffer is as long as is said.
    while unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) } > 0 {}
}

/// Waits for one of two descriptors: whether the first can be read.
pub fn either(first: RawFd, second: RawFd) -> bool {
    let mut both = [
        libc::pollfd { fd: first, events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: second, events: libc::POLLIN, revents: 0 },
    ];
    // SAFETY: two entries.
    unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
    both[0].revents != 0
}

/// A child that ended and how, if one has.
pub fn reap(waits: bool) -> Result<Option<(i32, i32)>, i32> {
    let mut status = 0;
    let flags = libc::__WALL | if waits { 0 } else { libc::WNOHANG };
    // SAFETY: the status is ours.
    match answer(unsafe { libc::waitpid(-1, &raw mut status, flags) }.into())? {
        0 => Ok(None),
        process => Ok(Some((process as i32, status))),
    }
}

/// Whether this process is the first of a process name space: it sees itself as number 1, and no parent.
pub fn is_first() -> bool {
    // SAFETY: neither takes arguments.
    unsafe { libc::getpid() == 1 && libc::getppid() == 0 }
}

/// The signal that this process gets when the one that made it ends; 0 for none.
pub fn parent_signal() -> i32 {
    let mut signal = 0;
    // SAFETY: the call writes the number to where it is told.
    unsafe { libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal) };
    signal
}

/// The process that made this one.
pub fn parent() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::getppid() }
}

/// Whether this process may signal the one that made it.
pub fn may_signal_parent() -> bool {
    // SAFETY: signal 0 only asks.
    unsafe { libc::kill(libc::getppid(), 0) == 0 }
}

pub fn kill(process: i32) {
    // SAFETY: numbers.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Sends a message, with a descriptor if there is one.
pub fn send(socket: RawFd, message: &[i32; 3], descriptor: Option<RawFd>) -> Answer {
    send_all(socket, message, descriptor.as_slice())
}

/// Sends a message with descriptors.
pub fn send_all(socket: RawFd, message: &[i32; 3], descriptors: &[RawFd]) -> Answer {
    #[repr(C, align(8))]
    struct Control {
        header: libc::cmsghdr,
        descriptors: [RawFd; MOST_SEEN],
    }
    let count = descriptors.len().min(MOST_SEEN);
    let mut part = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: 12 };
    let mut control = Control {
        header: libc::cmsghdr {
            cmsg_len: size_of::<libc::cmsghdr>() + 4 * count,
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        },
        descriptors: [-1; MOST_SEEN],
    };
    for (slot, descriptor) in control.descriptors.iter_mut().zip(descriptors) {
        *slot = *descriptor;
    }
    // SAFETY: all zero is an empty header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    if count > 0 {
        header.msg_control = (&raw mut control).cast();
        header.msg_controllen = size_of::<libc::cmsghdr>() + (4 * count).next_multiple_of(8);
    }
    // SAFETY: the header points to live data of these lengths.
    answer(unsafe { libc::sendmsg(socket, &raw const header, libc::MSG_NOSIGNAL) } as libc::c_long)
}

/// Brings the loopback device of this network up.
pub fn loopback_up() -> Answer {
    // SAFETY: numbers.
    let socket =
        answer(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }.into())?;
    // SAFETY: all zero is a request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is the structure that this takes.
    let done = answer(unsafe { libc::ioctl(socket as RawFd, libc::SIOCSIFFLAGS, &raw const request) }.into());
    close(socket as RawFd);
    done
}

/// Enters a name space.
pub fn enter(space: RawFd) -> Answer {
    // SAFETY: numbers.
    answer(unsafe { libc::setns(space, 0) }.into())
}

/// Waits for a message: none if the other end is gone.
pub fn received(socket: RawFd) -> Option<[i32; 3]> {
    let mut message = [0i32; 3];
    // SAFETY: the buffer is as long as is said.
    let length = unsafe { libc::recv(socket, message.as_mut_ptr().cast(), size_of_val(&message), 0) };
    (length > 0).then_some(message)
}

/// Holds this process by these Landlock rules from now on.
pub fn restrict(rules: RawFd) -> Answer {
    // SAFETY: numbers.
    answer(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, 0) })
}

/// Filters the calls of this process from now on; what comes back is the descriptor at which the referee hears of them.
pub fn filter(program: &[libc::sock_filter]) -> Answer {
    const NEW_LISTENER: usize = 1 << 3;
    // Signals wait until a call that the referee has heard of is answered; older kernels do not know this flag.
    const KILLABLE: usize = 1 << 5;
    let whole = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    let set = |flags: usize| {
        // SAFETY: the kernel copies the program.
        answer(unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER as usize, flags, &raw const whole)
        })
    };
    match set(NEW_LISTENER | KILLABLE) {
        Err(libc::EINVAL) => set(NEW_LISTENER),
        other => other,
    }
}

/// A session of its own, without a terminal.
pub fn new_session() -> Answer {
    // SAFETY: no arguments.
    answer(unsafe { libc::setsid() }.into())
}

/// Runs another program in this process; it comes back only with an error.
pub fn execute(path: &CStr, arguments: &[*const libc::c_char], environment: &[*const libc::c_char]) -> i32 {
    // SAFETY: both lists end with a null pointer, and what they point to ends with a NUL.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}

/// Reads some of a file.
pub fn read(descriptor: RawFd, buffer: &mut [u8]) -> Answer {
    // SAFETY: the buffer is as long as is said.
    answer(unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) } as libc::c_long)
}

/// Gives a folder the times of another one.
pub fn copy_times(from: &CStr, to: &CStr) -> Answer {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut known: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a NUL, and the structure is ours.
    answer(unsafe { libc::stat(from.as_ptr(), &raw mut known) }.into())?;
    let time = |seconds, nanoseconds| libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = [time(known.st_atime, known.st_atime_nsec), time(known.st_mtime, known.st_mtime_nsec)];
    // SAFETY: the path ends with a NUL, and there are two times.
    answer(unsafe { libc::utimensat(libc::AT_FDCWD, to.as_ptr(), times.as_ptr(), 0) }.into())
}

/// Entries that are looked at before a folder is called too full to be emptied.
const MOST_ENTRIES: u32 = 50_000;

/// Removes all that is in a folder, whatever it is. Folders in folders are moved up before they are emptied, so that no depth of
/// them needs room here.
pub fn empty(folder: &CStr) -> Answer {
    let top = open(folder, libc::O_RDONLY | libc::O_DIRECTORY)? as RawFd;
    let emptied = empty_opened(top);
    close(top);
    emptied
}

fn empty_opened(top: RawFd) -> Answer {
    let (mut looked, mut moved) = (0, 0);
    loop {
        let mut found = 0;
        each_entry(top, |name, is_folder| {
            found += 1;
            looked += 1;
            if looked > MOST_ENTRIES {
                return Err(libc::E2BIG);
            }
            match remove(top, name, is_folder) {
                Err(libc::ENOTEMPTY) => {}
                other => return other.map(drop),
            }
            let below = open_below(top, name)? as RawFd;
            let raised = each_entry(below, |name, is_folder| {
                looked += 1;
                match is_folder {
                    true => raise(below, name, top, &mut moved),
                    false => remove(below, name, false).map(drop),
                }
            });
            close(below);
            raised?;
            match remove(top, name, true) {
                // Its entries changed places while they were told: the next round finds the rest.
                Err(libc::ENOTEMPTY) => Ok(()),
                other => other.map(drop),
            }
        })?;
        if found == 0 {
            return Ok(0);
        }
    }
}

/// Removes a file, or a folder that is empty.
fn remove(folder: RawFd, name: &CStr, is_folder: bool) -> Answer {
    let flags = if is_folder { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: the name ends with a NUL.
    answer(unsafe { libc::unlinkat(folder, name.as_ptr(), flags) }.into())
}

fn open_below(folder: RawFd, name: &CStr) -> Answer {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the name ends with a NUL.
    answer(unsafe { libc::openat(folder, name.as_ptr(), flags) }.into())
}

/// Moves an entry to another folder, under a number that is free there.
fn raise(from: RawFd, name: &CStr, to: RawFd, number: &mut u32) -> Result<(), i32> {
    const NO_REPLACE: libc::c_uint = 1;
    loop {
        *number = number.checked_add(1).ok_or(libc::E2BIG)?;
        let mut text = [0u8; 11];
        let mut rest = *number;
        for digit in text.iter_mut().take(10).rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        // SAFETY: both names end with a NUL.
        let moved =
            unsafe { libc::syscall(libc::SYS_renameat2, from, name.as_ptr(), to, text.as_ptr(), NO_REPLACE) };
        match answer(moved) {
            Err(libc::EEXIST) => {}
            other => return other.map(drop),
        }
    }
}

/// Tells of each entry of a folder, from its first one on, and whether it is a folder. The folder lies in memory, where the kernel knows
/// the kinds of entries.
fn each_entry(folder: RawFd, mut tell: impl FnMut(&CStr, bool) -> Result<(), i32>) -> Result<(), i32> {
    const KIND: usize = 18;
    const NAME: usize = 19;
    let mut buffer = [0u64; 512];
    // SAFETY: numbers.
    answer(unsafe { libc::lseek(folder, 0, libc::SEEK_SET) })?;
    loop {
        // SAFETY: the buffer is as long as is said.
        let length = answer(unsafe {
            libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), size_of_val(&buffer))
        })?;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the buffer is as long as the kernel says it has filled.
        let mut rest = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), length as usize) };
        while let (Some(name), Some([low, high, kind])) = (rest.get(NAME..), rest.get(16..=KIND)) {
            let Ok(name) = CStr::from_bytes_until_nul(name) else { return Err(libc::EIO) };
            if !matches!(name.to_bytes(), b"." | b"..") {
                tell(name, *kind == libc::DT_DIR)?;
            }
            rest = rest.get(usize::from(u16::from_ne_bytes([*low, *high]))..).unwrap_or_default();
        }
    }
}
