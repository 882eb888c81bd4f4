//! Runs in processes of their own, which send what they find as they find it.
//!
//! There is no descriptor between the two: a program that is explored may close all it finds. Messages are written one
//! behind the other into memory that both see; what was sent stays when the process that sent it is killed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Room for messages. What is not used costs nothing.
const ROOM: usize = 256 << 20;
const HEAD: usize = 64;

/// The memory between two processes.
pub struct Mailbox {
    start: *mut u8,
    read: usize,
}

impl Mailbox {
    fn new() -> io::Result<Mailbox> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), HEAD + ROOM, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mailbox { start: start.cast(), read: 0 })
    }

    fn written(&self) -> &AtomicU64 {
        // SAFETY: the mapping is page-aligned, zeroed, and at least that large.
        unsafe { &*self.start.cast::<AtomicU64>() }
    }

    /// Sends a message; false if there is no room for it.
    pub fn send(&mut self, message: &impl Serialize) -> bool {
        let Ok(bytes) = postcard::to_stdvec(message) else { return false };
        let at = self.written().load(Ordering::Relaxed) as usize;
        if at + 8 + bytes.len() > ROOM {
            return false;
        }
        // SAFETY: the room was checked, and nobody reads beyond what is said to be written.
        unsafe {
            let to = self.start.add(HEAD + at);
            to.cast::<[u8; 8]>().write_unaligned((bytes.len() as u64).to_le_bytes());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.add(8), bytes.len());
        }
        self.written().store((at + 8 + bytes.len()) as u64, Ordering::Release);
        true
    }

    /// The next message, if there is one.
    fn receive<T: DeserializeOwned>(&mut self) -> Option<T> {
        let written = self.written().load(Ordering::Acquire) as usize;
        if self.read + 8 > written {
            return None;
        }
        // SAFETY: so much has been written.
        let (length, from) = unsafe {
            let from = self.start.add(HEAD + self.read);
            (u64::from_le_bytes(from.cast::<[u8; 8]>().read_unaligned()) as usize, from.add(8))
        };
        if self.read + 8 + length > written {
            return None;
        }
        // SAFETY: likewise.
        let bytes = unsafe { std::slice::from_raw_parts(from, length) };
        self.read += 8 + length;
        postcard::from_bytes(bytes).ok()
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it any more.
        unsafe { libc::munmap(self.start.cast(), HEAD + ROOM) };
    }
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It did its work.
    Done,
    /// It died: of a signal, or because memory ran out.
    Died,
}

/// A process that works for this one.
pub struct Worker {
    process: libc::pid_t,
    mailbox: Mailbox,
}

impl Worker {
    /// Starts a process that is a copy of this one and does `work`, with at most `memory` bytes of address space more than
    /// this one has.
    pub fn start(memory: u64, work: impl FnOnce(&mut Mailbox)) -> io::Result<Worker> {
        let mut mailbox = Mailbox::new()?;
        // SAFETY: this process has one thread as far as the child is concerned: it touches nothing that others hold.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // A panic must not unwind into what the parent was doing, nor a worker outlive the one who started it.
                // SAFETY: the calls take numbers and a structure that lives long enough.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    let limit =
                        libc::rlimit { rlim_cur: memory + address_space(), rlim_max: libc::RLIM_INFINITY };
                    libc::setrlimit(libc::RLIMIT_AS, &raw const limit);
                }
                let done =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&mut mailbox))).is_ok();
                // SAFETY: the process ends here, without running what the parent has to run.
                unsafe { libc::_exit(i32::from(!done)) }
            }
            process => Ok(Worker { process, mailbox }),
        }
    }

    /// The next message, if there is one.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.mailbox.receive()
    }

    /// Whether it has ended, and how.
    pub fn ended(&mut self) -> Option<End> {
        let mut status = 0;
        // SAFETY: the call writes to what it is handed, which lives long enough.
        let found = unsafe { libc::waitpid(self.process, &raw mut status, libc::WNOHANG) };
        if found != self.process {
            return None;
        }
        self.process = 0;
        Some(if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 { End::Done } else { End::Died })
    }
}

impl Drop for Worker {
    /// A worker that nobody waits for is ended.
    fn drop(&mut self) {
        if self.process > 0 {
            // SAFETY: the process is our own child, which has not been waited for.
            unsafe {
                libc::kill(self.process, libc::SIGKILL);
                libc::waitpid(self.process, std::ptr::null_mut(), 0);
            }
        }
    }
}

/// What `work` comes to in a process of its own, a copy of this one with at most `memory` bytes more; nothing if it died.
pub fn apart<T: Serialize + DeserializeOwned>(
    memory: u64,
    work: impl FnOnce() -> T,
) -> io::Result<Option<T>> {
    let mut worker = Worker::start(memory, |mailbox| {
        mailbox.send(&work());
    })?;
    while worker.ended().is_none() {
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    Ok(worker.receive())
}

/// Bytes of address space that this process has.
fn address_space() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').next().and_then(|first| first.parse::<u64>().ok()));
    pages.unwrap_or(0) * 4096
}
