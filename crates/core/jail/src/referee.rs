//! Who answers the calls that the filter does not decide: it counts processes, and refuses what would leave the walls.

use crate::Limits;
use crate::calls::{self, Group, Held, NEW_SPACES};
use crate::sys::{c_path, check};
use crate::tree;
use crate::walls::Kind;
use libc::c_long;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Files without a name that a run may make, where all of them together fit into its memory.
const NAMELESS: u64 = 16;

/// The referee of one run.
pub struct Referee {
    held: Held,
    /// The watching process.
    root: i32,
    limits: Limits,
    /// Folders in which modes may be changed, without links.
    writable: Vec<PathBuf>,
    /// Processes that may be made before they are counted again.
    allowance: u32,
    nameless: u64,
    /// Bytes of memory that were made to be shared: no process need have them mapped.
    shared: u64,
    /// Whether the run is over: nothing new is made.
    pub over: bool,
    /// What was refused, or answered otherwise than outside.
    pub hindered: BTreeSet<String>,
}

enum Answer {
    Made,
    Done,
    Refused(i32),
}

impl Referee {
    pub fn new(held: Held, root: i32, limits: Limits, writable: Vec<PathBuf>) -> Self {
        Referee {
            held,
            root,
            limits,
            writable,
            allowance: 0,
            nameless: 0,
            shared: 0,
            over: false,
            hindered: BTreeSet::new(),
        }
    }

    /// Hears one call and answers it.
    pub fn hear(&mut self, listener: RawFd) {
        // SAFETY: the kernel wants the structure to be all zero.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is the one that this request fills.
        if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) } < 0 {
            // Its process is gone.
            return;
        }
        let (error, flags) = match self.decide(&call) {
            Answer::Made => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::Done => (0, 0),
            Answer::Refused(errno) => (-errno, 0),
        };
        let reply = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags };
        // SAFETY: the structure is the one that this request takes. If the process is gone, nothing is to be done.
        unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const reply) };
    }

    fn decide(&mut self, call: &libc::seccomp_notif) -> Answer {
        let number = c_long::from(call.data.nr);
        let arguments = call.data.args;
        match calls::group(number) {
            Group::Fork => self.fork(number, arguments[0]),
            Group::OfProcess => {
                let target = arguments[0] as i32;
                // A group is named by its leader, with a minus.
                let process = if target < -1 { -target } else { target };
                self.inside(number, process)
            }
            Group::OfKind => {
                let of_a_process = match number {
                    libc::SYS_setpriority => arguments[0] == 0,
                    _ => arguments[0] == 1,
                };
                match (of_a_process, arguments[1] as i32) {
                    (true, 0) => Answer::Made,
                    (true, process) => self.inside(number, process),
                    (false, _) => self.refuse(number, libc::EPERM),
                }
            }
            Group::Change => match self.change_mode(number, call) {
                Ok(()) => Answer::Done,
                Err(_) => self.refuse(number, libc::EPERM),
            },
            Group::Making => {
                self.hindered.insert(calls::name(number));
                Answer::Made
            }
            Group::Other => self.other(number, arguments),
        }
    }

    fn refuse(&mut self, number: c_long, errno: i32) -> Answer {
        self.hindered.insert(calls::name(number));
        Answer::Refused(errno)
    }

    fn inside(&mut self, number: c_long, process: i32) -> Answer {
        if process > 0 && tree::is_below(process, self.root) {
            Answer::Made
        } else {
            self.refuse(number, libc::EPERM)
        }
    }

    fn fork(&mut self, number: c_long, first: u64) -> Answer {
        if self.over {
            return Answer::Refused(libc::EAGAIN);
        }
        if number == libc::SYS_clone && first & u64::from(NEW_SPACES) != 0 {
            return self.refuse(number, libc::EPERM);
        }
        if self.allowance == 0 {
            self.allowance = self.limits.processes.saturating_sub(tree::threads(self.root));
        }
        if self.allowance == 0 {
            return self.refuse(number, libc::EAGAIN);
        }
        self.allowance -= 1;
        Answer::Made
    }

    fn other(&mut self, number: c_long, arguments: [u64; 6]) -> Answer {
        match number {
            // Libraries know what to do on kernels that are older than these calls.
            libc::SYS_clone3 => Answer::Refused(libc::ENOSYS),
            libc::SYS_memfd_create
                if self.nameless < NAMELESS.min(self.limits.memory / self.limits.file.max(1)) =>
            {
                self.nameless += 1;
                Answer::Made
            }
            libc::SYS_memfd_create => self.refuse(number, libc::EMFILE),
            libc::SYS_mmap => self.share(number, arguments[1]),
            libc::SYS_shmget if self.held.kind == Kind::NameSpaces => self.share(number, arguments[1]),
            libc::SYS_socket => {
                // Inside a name space there is a network, on which nobody else is.
                self.hindered.insert(calls::name(number));
                let spaces = self.held.kind == Kind::NameSpaces;
                match arguments[0] as i32 {
                    // Where parts of the file system are the real ones, read-only, their sockets have someone at the other end.
                    libc::AF_UNIX if spaces && !self.held.copies_all => Answer::Refused(libc::EACCES),
                    libc::AF_UNIX | libc::AF_INET | libc::AF_INET6 if spaces => Answer::Made,
                    libc::AF_UNIX | libc::AF_INET | libc::AF_INET6 => Answer::Refused(libc::EACCES),
                    _ => Answer::Refused(libc::EAFNOSUPPORT),
                }
            }
            libc::SYS_ioctl => {
                self.hindered.insert(format!("ioctl {:#x}", arguments[1] as u32));
                Answer::Refused(libc::ENOTTY)
            }
            libc::SYS_io_uring_setup | libc::SYS_openat2 => self.refuse(number, libc::ENOSYS),
            _ if calls::name(number).starts_with("system call") => self.refuse(number, libc::ENOSYS),
            _ => self.refuse(number, libc::EPERM),
        }
    }

    /// Memory that is not gone with a process: there is as much as a run may have.
    fn share(&mut self, number: c_long, bytes: u64) -> Answer {
        let all = self.shared.saturating_add(bytes);
        if all > self.limits.memory {
            return self.refuse(number, libc::ENOMEM);
        }
        self.shared = all;
        Answer::Made
    }

    /// Changes the mode of a file in a folder that stays, in place of the caller: linkers make programs executable so. Landlock
    /// has no right for it, so that the call itself cannot be let through.
    fn change_mode(&self, number: c_long, call: &libc::seccomp_notif) -> io::Result<()> {
        let (process, arguments) = (call.pid, call.data.args);
        let refused = || io::Error::from_raw_os_error(libc::EPERM);
        let at = |folder: u64, path: u64| {
            let base = match folder as i32 {
                libc::AT_FDCWD => fs::read_link(format!("/proc/{process}/cwd"))?,
                descriptor => fs::read_link(format!("/proc/{process}/fd/{descriptor}"))?,
            };
            text(process, path).map(|path| base.join(path))
        };
        let here = libc::AT_FDCWD as u64;
        let (path, mode, same_as) = match number {
            libc::SYS_fchmod => {
                let link = PathBuf::from(format!("/proc/{process}/fd/{}", arguments[0] as i32));
                (fs::read_link(&link)?, arguments[1], Some(fs::metadata(&link)?))
            }
            libc::SYS_fchmodat | libc::SYS_fchmodat2 => (at(arguments[0], arguments[1])?, arguments[2], None),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => (at(here, arguments[0])?, arguments[1], None),
            _ => return Err(refused()),
        };
        let _ = here;
        let file = self.writable.iter().find_map(|folder| beneath(folder, &path).ok()).ok_or_else(refused)?;
        let reopened = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        if let Some(known) = same_as {
            let found = fs::metadata(&reopened)?;
            if (known.dev(), known.ino()) != (found.dev(), found.ino()) {
                return Err(refused());
            }
        }
        fs::set_permissions(&reopened, fs::Permissions::from_mode(mode as u32 & 0o777))
    }
}

/// A text in the memory of another process.
fn text(process: u32, address: u64) -> io::Result<OsString> {
    let mut bytes = vec![0u8; libc::PATH_MAX as usize];
    let mut length = 0;
    // A page at a time: what lies behind the text may not be there.
    while length < bytes.len() {
        let from = address + length as u64;
        let chunk = (4096 - (from % 4096) as usize).min(bytes.len() - length);
        let ours = libc::iovec { iov_base: bytes[length..].as_mut_ptr().cast(), iov_len: chunk };
        let theirs = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: chunk };
        // SAFETY: our part is as long as is said; theirs is read by the kernel, or refused.
        let read =
            unsafe { libc::process_vm_readv(process as i32, &raw const ours, 1, &raw const theirs, 1, 0) };
        let read = check(read as c_long)? as usize;
        if let Some(end) = bytes[length..length + read].iter().position(|byte| *byte == 0) {
            bytes.truncate(length + end);
            return Ok(OsString::from_vec(bytes));
        }
        length += read;
    }
    Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
}

/// A file below a folder, on a way that follows no link and does not leave it.
fn beneath(folder: &Path, path: &Path) -> io::Result<OwnedFd> {
    const BENEATH: u64 = 0x08;
    const NO_LINKS: u64 = 0x04;
    #[repr(C)]
    struct How {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    let refused = || io::Error::from_raw_os_error(libc::EPERM);
    let inside = path.strip_prefix(folder).map_err(|_| refused())?;
    if inside.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(refused());
    }
    let base = crate::sys::open_path(folder)?;
    let name = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    let name = c_path(name)?;
    let how = How { flags: (libc::O_PATH | libc::O_CLOEXEC) as u64, mode: 0, resolve: BENEATH | NO_LINKS };
    // SAFETY: the name ends with a NUL, and the size is that of the structure.
    let opened = check(unsafe {
        libc::syscall(libc::SYS_openat2, base.as_raw_fd(), name.as_ptr(), &raw const how, size_of::<How>())
    })?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}
