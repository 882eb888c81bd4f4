//! The descriptors of this process, and the files that they lead to.

use std::os::fd::RawFd;

/// The descriptors of this process.
pub fn descriptors() -> Vec<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<RawFd> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The one of the folder itself is closed again.
    // SAFETY: it asks about a number.
    numbers.into_iter().filter(|number| unsafe { libc::fcntl(*number, libc::F_GETFD) } >= 0).collect()
}

/// Which file a descriptor of ours leads to.
pub fn identity(descriptor: i32) -> Option<(u64, u64)> {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes only what it is handed, which lives long enough.
    let failed = unsafe { libc::fstat(descriptor, &raw mut status) } != 0;
    (!failed).then_some((status.st_dev, status.st_ino))
}
