//! Landlock: what a process and its children may do with the real file system, the network and other processes.

use crate::sys::{self, check};
use crate::{Jail, Readable};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The first version that holds what the jail promises of files: it has a right to truncate.
pub const LEAST: u32 = 3;
/// The version from which on signals and abstract sockets can be kept inside.
pub const SCOPES: u32 = 6;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const IOCTL_DEV: u64 = 1 << 15;

/// Devices that hold nothing.
pub const HARMLESS_DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// The system's programs, libraries and settings: what running anything takes.
pub const SYSTEM: [&str; 10] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"];

#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

/// The version of the kernel's interface; 0 without Landlock.
pub fn version() -> u32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel reads no memory.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    u32::try_from(answer).unwrap_or(0)
}

/// All rights on files that a version knows.
fn file_rights(version: u32) -> u64 {
    let count = match version {
        0 | 1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << count) - 1
}

fn ruleset(files: u64, version: u32) -> io::Result<OwnedFd> {
    // TCP: to bind and to connect. Scopes: abstract sockets and signals.
    let network = if version >= 4 { 3 } else { 0 };
    let scoped = if version >= SCOPES { 3 } else { 0 };
    let attributes = Attributes { files, network, scoped };
    let size = match version {
        0..=3 => 8usize,
        4 | 5 => 16,
        _ => 24,
    };
    // SAFETY: the structure is as long as the size says, or longer.
    let made =
        check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0) })?;
    // SAFETY: the descriptor is new, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(made as i32) })
}

/// Rules beside name spaces: the file system is a view already; signals and sockets get a second wall.
pub fn scopes() -> Option<OwnedFd> {
    let version = version();
    // TCP stays: it works among the processes of the run.
    (version >= SCOPES).then(|| {
        let attributes = Attributes { files: 0, network: 0, scoped: 3 };
        // SAFETY: as above.
        let made =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, 24usize, 0) };
        // SAFETY: as above.
        (made >= 0).then(|| unsafe { OwnedFd::from_raw_fd(made as i32) })
    })?
}

/// Rules on the real file system.
pub fn rules(jail: &Jail) -> io::Result<OwnedFd> {
    let version = version();
    let all = file_rights(version);
    let set = ruleset(all, version)?;
    let read = EXECUTE | READ_FILE | READ_DIR;
    let readable: Vec<PathBuf> = match &jail.readable {
        Readable::Everything => everything_but_devices()?,
        Readable::Only(paths) => {
            let system = SYSTEM.iter().map(PathBuf::from).chain([PathBuf::from("/proc")]);
            system.chain(paths.iter().cloned()).collect()
        }
    };
    for path in readable {
        allow(&set, &path, read)?;
    }
    // The names of all folders; what is in the files is said above.
    allow(&set, Path::new("/"), READ_DIR)?;
    for device in HARMLESS_DEVICES {
        allow(&set, &Path::new("/dev").join(device), READ_FILE | WRITE_FILE)?;
    }
    for folder in jail.writable.iter().chain(&jail.own) {
        allow(&set, folder, all & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV))?;
    }
    Ok(set)
}

/// Rules only add, so what is to be hidden is left out.
fn everything_but_devices() -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir("/")?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path != Path::new("/dev")).collect())
}

/// What is not there needs no rule.
fn allow(set: &OwnedFd, path: &Path, rights: u64) -> io::Result<()> {
    const BENEATH: u32 = 1;
    const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEV;
    let Ok(parent) = sys::open_path(path) else { return Ok(()) };
    let rights = if path.is_dir() { rights } else { rights & OF_FILES };
    let rule = Beneath { allowed: rights, parent: parent.as_raw_fd() };
    // SAFETY: the rule is the structure that this kind of rule takes.
    let done =
        unsafe { libc::syscall(libc::SYS_landlock_add_rule, set.as_raw_fd(), BENEATH, &raw const rule, 0) };
    check(done).map(drop)
}
