//! Files and shared memory of the host, mapped so that an emulated process can map them in turn.
//!
//! The host's own mapping does the work: nothing is read before it is touched, no file descriptor stays open where
//! the emulated program could close it, and sharing between processes is the kernel's. A mapping may reach behind the end of its
//! file, which may grow, or be cut: what is there is asked for each time that it is accessed.

use super::kernel;
use crate::memory::mapping::LARGEST;
use crate::memory::{Identity, Mapping, Object, PAGE};
use crate::outside::Wanted;
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A device for segments of System V that no file is on. They have numbers of their own.
const SEGMENTS: u64 = u64::MAX;

/// A mapping in the memory of Parallax itself.
pub struct HostMap {
    address: AtomicPtr<u8>,
    /// Bytes that are mapped, whole pages.
    reach: AtomicU64,
    /// The offset in the file of the first of them.
    base: u64,
    /// How long the file was.
    length: u64,
    /// What the user calls it: a path, usually.
    name: String,
    identity: Option<Identity>,
    shared: bool,
    writable: bool,
    /// Whether it is a segment of System V, and is let go of as such.
    segment: bool,
}

impl HostMap {
    /// Maps an open file, to be copied from or to be shared. Of a file that is not too long all is mapped, since it may be one
    /// that a recording keeps.
    pub fn file(descriptor: i32, wanted: &Wanted, name: String) -> io::Result<HostMap> {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        if unsafe { libc::fstat(descriptor, &mut status) } != 0 {
            return Err(io::Error::last_os_error());
        }
        const ZERO_DEVICE: u64 = libc::makedev(1, 5);
        match status.st_mode & libc::S_IFMT {
            libc::S_IFREG => {}
            // What is mapped of it is memory.
            libc::S_IFCHR if status.st_rdev == ZERO_DEVICE => {
                return Self::anonymous(wanted.offset + wanted.length, name);
            }
            _ => return Err(io::Error::from_raw_os_error(libc::ENODEV)),
        }
        let length = status.st_size as u64;
        let end =
            wanted.offset.checked_add(wanted.length).ok_or(io::Error::from_raw_os_error(libc::EOVERFLOW))?;
        let (base, end) = if wanted.shared || length > LARGEST {
            (wanted.offset, end)
        } else {
            (0, end.max(length.next_multiple_of(PAGE)))
        };
        let changed = (status.st_ctime, status.st_ctime_nsec);
        let identity = Identity { device: status.st_dev, inode: status.st_ino, length, changed };
        let execute = if wanted.execute { libc::PROT_EXEC } else { 0 };
        let sharing = if wanted.shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        let map = |access: i32| match end - base {
            // An empty file, of which nothing was asked.
            0 => Ok(std::ptr::null_mut()),
            length => mapped(descriptor, length, base, access, sharing | libc::MAP_NORESERVE),
        };
        // The program may ask for leave to write later, if its descriptor allows it.
        let both = libc::PROT_READ | libc::PROT_WRITE | execute;
        let first = if wanted.shared { map(both) } else { map(libc::PROT_READ | execute) };
        let (address, writable) = match first {
            Err(_) if wanted.shared && !wanted.write => (map(libc::PROT_READ | execute)?, false),
            other => (other?, wanted.shared),
        };
        if execute != 0 {
            // Asking was enough: nothing of it runs here.
            let access = if writable { both & !libc::PROT_EXEC } else { libc::PROT_READ };
            let _ = kernel(
                libc::SYS_mprotect,
                [address as usize, (end - base) as usize, access as usize, 0, 0, 0],
            );
        }
        Ok(HostMap {
            address: AtomicPtr::new(address),
            reach: AtomicU64::new(end - base),
            base,
            length,
            name,
            identity: Some(identity),
            shared: wanted.shared,
            writable,
            segment: false,
        })
    }

    /// Maps anonymous memory that child processes will share.
    pub fn anonymous(length: u64, name: String) -> io::Result<HostMap> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let address = mapped(-1, length, 0, access, flags)?;
        Ok(Self::of_memory(address, length, name, true))
    }

    /// Attaches a segment of System V.
    pub fn segment(number: i32, writable: bool) -> io::Result<HostMap> {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut status: libc::shmid_ds = unsafe { std::mem::zeroed() };
        let failed = |crate::system::Errno(number)| io::Error::from_raw_os_error(number);
        let flags = if writable { 0 } else { libc::SHM_RDONLY };
        let address =
            kernel(libc::SYS_shmat, [number as usize, 0, flags as usize, 0, 0, 0]).map_err(failed)?;
        // The number of a segment may be all that one may know of it: without leave to read, attaching fails too.
        let target = &raw mut status as usize;
        let known = kernel(libc::SYS_shmctl, [number as usize, libc::IPC_STAT as usize, target, 0, 0, 0]);
        if let Err(errno) = known {
            let _ = kernel(libc::SYS_shmdt, [address as usize, 0, 0, 0, 0, 0]);
            return Err(failed(errno));
        }
        let name = format!("/SYSV{:08x}", status.shm_perm.__key);
        let mut map = Self::of_memory(address as *mut u8, status.shm_segsz as u64, name, writable);
        map.segment = true;
        // Segments have numbers of their own, and a device that no file has.
        let identity =
            Identity { device: SEGMENTS, inode: number as u64, length: map.length, changed: (0, 0) };
        map.identity = Some(identity);
        Ok(map)
    }

    fn of_memory(address: *mut u8, length: u64, name: String, writable: bool) -> HostMap {
        HostMap {
            address: AtomicPtr::new(address),
            reach: AtomicU64::new(length.next_multiple_of(PAGE)),
            base: 0,
            length,
            name,
            identity: None,
            shared: true,
            writable,
            segment: false,
        }
    }

    /// The host's address of an offset, and how many bytes are mapped from there on.
    fn place(&self, offset: u64) -> Option<(*mut u8, u64)> {
        let inside = offset.checked_sub(self.base)?;
        let left = self.reach.load(Ordering::Relaxed).checked_sub(inside).filter(|left| *left > 0)?;
        Some((self.address.load(Ordering::Relaxed).wrapping_add(inside as usize), left))
    }

    /// Copies what is at `offset`; none if not all of it is there.
    ///
    /// The file may have been cut since it was mapped: reading it then raises SIGBUS, whereas asking the kernel to copy from
    /// our own memory fails politely. Where that call is forbidden, this copies directly.
    fn read(&self, offset: u64, into: &mut [u8]) -> Option<()> {
        let (from, left) = self.place(offset)?;
        if left < into.len() as u64 {
            return None;
        }
        let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let remote = libc::iovec { iov_base: from.cast(), iov_len: into.len() };
        // SAFETY: both vectors describe memory that exists; a part that is gone is an error, not a fault.
        let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
        if copied >= 0 {
            // Less than all is there if the file was cut in between.
            return (copied as usize == into.len()).then_some(());
        }
        match io::Error::last_os_error().raw_os_error() {
            // SAFETY: so many bytes of the mapping from `from` on, into a buffer of the same length.
            Some(libc::EPERM | libc::ENOSYS) => unsafe {
                crate::memory::guarded::copy(from, into.as_mut_ptr(), into.len()).then_some(())
            },
            _ => None,
        }
    }
}

/// Has the kernel map something where nothing is mapped.
fn mapped(descriptor: i32, length: u64, offset: u64, access: i32, flags: i32) -> io::Result<*mut u8> {
    let call =
        [0, length as usize, access as usize, flags as usize, descriptor as isize as usize, offset as usize];
    match kernel(libc::SYS_mmap, call) {
        Ok(address) => Ok(address as *mut u8),
        Err(crate::system::Errno(number)) => Err(io::Error::from_raw_os_error(number)),
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
        self.read(offset, &mut bytes)?;
        Some(bytes)
    }

    fn shared_page(&self, offset: u64) -> Option<*mut u8> {
        self.place(offset).map(|(place, _)| place)
    }

    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    fn object(&self) -> Option<Object> {
        self.identity.map(|identity| Object { device: identity.device, inode: identity.inode })
    }

    fn is_segment(&self) -> bool {
        self.segment
    }

    fn may_write(&self) -> bool {
        self.writable
    }

    fn reach(&self, end: u64) {
        let (Some(wanted), now) = (end.checked_sub(self.base), self.reach.load(Ordering::Relaxed)) else {
            return;
        };
        let wanted = wanted.next_multiple_of(PAGE);
        if wanted <= now || self.segment {
            return;
        }
        let address = self.address.load(Ordering::Relaxed) as usize;
        let may_move = libc::MREMAP_MAYMOVE as usize;
        // Where the host has no room, what is behind stays out of reach: an access says that nothing is there.
        if let Ok(address) =
            kernel(libc::SYS_mremap, [address, now as usize, wanted as usize, may_move, 0, 0])
        {
            self.address.store(address as *mut u8, Ordering::Relaxed);
            self.reach.store(wanted, Ordering::Relaxed);
        }
    }

    fn contents(&self) -> Option<Vec<u8>> {
        if self.length > LARGEST || self.base > 0 || self.shared {
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
        let (address, reach) =
            (self.address.load(Ordering::Relaxed) as usize, self.reach.load(Ordering::Relaxed));
        let _ = if self.segment {
            kernel(libc::SYS_shmdt, [address, 0, 0, 0, 0, 0])
        } else if reach > 0 {
            kernel(libc::SYS_munmap, [address, reach as usize, 0, 0, 0, 0])
        } else {
            Ok(0)
        };
    }
}
