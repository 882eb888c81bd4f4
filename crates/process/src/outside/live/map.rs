//! Files and shared memory of the host, mapped so that an emulated process can map them in turn.
//!
//! The host's own mapping does the work: nothing is read before it is touched, no file descriptor stays open where
//! the emulated program could close it, and sharing between processes is the kernel's.

use crate::memory::mapping::LARGEST;
use crate::memory::{Identity, Mapping, PAGE};
use std::io;

/// A mapping in the memory of Parallax itself.
pub struct HostMap {
    address: *mut u8,
    length: u64,
    /// What the user calls it: a path, usually.
    name: String,
    identity: Option<Identity>,
}

// SAFETY: the mapping stays where it is until dropped, and is only read or written through raw pointers.
unsafe impl Send for HostMap {}
// SAFETY: as above.
unsafe impl Sync for HostMap {}

impl HostMap {
    /// Maps a whole open file, to be copied from or (if `shared`) to be shared. Empty files map to nothing.
    pub fn file(descriptor: i32, shared: bool, writable: bool, name: String) -> io::Result<HostMap> {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        if unsafe { libc::fstat(descriptor, &mut status) } != 0 {
            return Err(io::Error::last_os_error());
        }
        if status.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        let sharing = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        let access = libc::PROT_READ | if shared && writable { libc::PROT_WRITE } else { 0 };
        let length = status.st_size as u64;
        let changed = (status.st_ctime, status.st_ctime_nsec);
        let identity = Identity { device: status.st_dev, inode: status.st_ino, length, changed };
        Self::map(descriptor, length, access, sharing, name, Some(identity))
    }

    /// Maps anonymous memory that child processes will share.
    pub fn anonymous(length: u64) -> io::Result<HostMap> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Self::map(-1, length, access, flags, String::from("shared memory"), None)
    }

    fn map(
        fd: i32,
        length: u64,
        access: i32,
        flags: i32,
        name: String,
        identity: Option<Identity>,
    ) -> io::Result<HostMap> {
        if length == 0 {
            return Ok(HostMap { address: std::ptr::null_mut(), length, name, identity });
        }
        // SAFETY: the kernel picks an address where nothing is mapped.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), length as usize, access, flags, fd, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(HostMap { address: address.cast(), length, name, identity })
    }

    /// Copies what is at `offset`, inside the mapping; fails if it is gone.
    ///
    /// The file may have been cut since it was mapped: reading it then raises SIGBUS, whereas asking the kernel to copy from
    /// our own memory fails politely. Where that call is forbidden, this copies directly.
    fn read(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        debug_assert!(offset + into.len() as u64 <= self.length);
        let from = self.address.wrapping_add(offset as usize);
        let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let remote = libc::iovec { iov_base: from.cast(), iov_len: into.len() };
        // SAFETY: both vectors describe memory that exists; a part that is gone is an error, not a fault.
        let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
        if copied >= 0 {
            // Less than all is there if the file was cut in between.
            return (copied as usize == into.len()).then_some(());
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EPERM | libc::ENOSYS) => {
                // SAFETY: so many bytes of the mapping from `from` on, into a buffer of the same length.
                unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
                Some(())
            }
            _ => None,
        }
    }
}

impl Mapping for HostMap {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn page(&self, offset: u64, _: u32) -> Option<[u8; PAGE as usize]> {
        let mut bytes = [0; PAGE as usize];
        let length = self.length.checked_sub(offset).filter(|left| *left > 0)?.min(PAGE) as usize;
        self.read(offset, &mut bytes[..length])?;
        Some(bytes)
    }

    fn shared_page(&self, offset: u64) -> Option<*mut u8> {
        (offset < self.length).then(|| self.address.wrapping_add(offset as usize))
    }

    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    fn contents(&self) -> Option<Vec<u8>> {
        if self.length > LARGEST {
            return None;
        }
        let mut bytes = vec![0; self.length as usize];
        for (number, piece) in bytes.chunks_mut(PIECE).enumerate() {
            self.read((number * PIECE) as u64, piece)?;
        }
        Some(bytes)
    }
}

/// How much is copied at a time: the kernel copies no more than two gigabytes.
const PIECE: usize = 1 << 26;

impl Drop for HostMap {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: this is the mapping that was made for this value, which is dropped now.
            unsafe { libc::munmap(self.address.cast(), self.length as usize) };
        }
    }
}
