//! Questions and answers between two processes, over memory that they share.
//!
//! There is no file descriptor in it on purpose: a program that is being emulated shares its descriptors with Parallax,
//! and many programs close all they find, list them, or count on the number of the next one.
//!
//! One word says whose turn it is, and both sides sleep on it. What a socket would have said by closing, that the
//! other side is gone, is found out by looking now and then.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The asking side may write.
const IDLE: u32 = 0;
/// There is a question.
const ASKED: u32 = 1;
/// There is an answer.
const ANSWERED: u32 = 2;
/// The asking side has hung up.
const CLOSED: u32 = 3;

/// No message is longer than this. Room that is not used costs nothing.
const LARGEST: usize = 64 << 20;
const HEAD: usize = 64;

/// How often the asking side looks whether the other is alive: it is waiting for microseconds of work.
const ASKING_TICK: Duration = Duration::from_millis(10);
/// How often the answering side does: nobody waits for that.
const ANSWERING_TICK: Duration = Duration::from_millis(500);

/// Shared memory with a message in it.
pub struct Channel {
    start: *mut u8,
}

#[repr(C)]
struct Head {
    turn: AtomicU32,
    length: AtomicU32,
    answering: AtomicI32,
}

impl Channel {
    /// A channel that children made by `fork` share.
    pub fn new() -> io::Result<Channel> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), HEAD + LARGEST, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Channel { start: start.cast() })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is page-aligned, zeroed and at least that large; both fields are atomic.
        unsafe { &*self.start.cast::<Head>() }
    }

    /// Says which process will answer, if whoever asks cannot know.
    pub fn introduce(&self, process: i32) {
        self.head().answering.store(process, Ordering::Release);
    }

    /// The process that was introduced; zero if none was.
    pub fn introduced(&self) -> i32 {
        self.head().answering.load(Ordering::Acquire)
    }

    fn put(&self, message: &[u8]) {
        assert!(message.len() <= LARGEST, "a message of {} bytes", message.len());
        // SAFETY: it fits, and the other side does not look while it is our turn.
        unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), self.start.add(HEAD), message.len()) };
        self.head().length.store(message.len() as u32, Ordering::Relaxed);
    }

    fn take(&self, message: &mut Vec<u8>) {
        let length = (self.head().length.load(Ordering::Relaxed) as usize).min(LARGEST);
        message.clear();
        // SAFETY: inside the mapping, and the other side does not write while it is our turn.
        message.extend_from_slice(unsafe { std::slice::from_raw_parts(self.start.add(HEAD), length) });
    }

    fn pass(&self, turn: u32) {
        self.head().turn.store(turn, Ordering::Release);
        let word = std::ptr::from_ref(&self.head().turn);
        // SAFETY: waking whoever sleeps on a word of ours.
        unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Sleeps while it is `turn`, but not longer than `most`.
    fn sleep(&self, turn: u32, most: Duration) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
        let word = std::ptr::from_ref(&self.head().turn);
        // SAFETY: the word and the time are ours and stay while the call lasts.
        unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, turn, &raw const time) };
    }

    /// Asks, and waits for the answer; false if `process`, which should give it, has died or takes longer than `patience`.
    pub fn ask(&self, question: &[u8], answer: &mut Vec<u8>, process: i32, patience: Duration) -> bool {
        self.put(question);
        self.pass(ASKED);
        let asked = Instant::now();
        loop {
            self.sleep(ASKED, ASKING_TICK);
            if self.head().turn.load(Ordering::Acquire) == ANSWERED {
                self.head().turn.store(IDLE, Ordering::Relaxed);
                self.take(answer);
                return true;
            }
            if asked.elapsed() >= ASKING_TICK && !is_alive(process) {
                return false;
            }
            if asked.elapsed() > patience {
                return false;
            }
        }
    }

    /// Waits for a question; none if nobody will ask any more.
    pub fn next(&self, asking: i32) -> Option<Vec<u8>> {
        loop {
            match self.head().turn.load(Ordering::Acquire) {
                ASKED => {
                    let mut question = Vec::new();
                    self.take(&mut question);
                    return Some(question);
                }
                CLOSED => return None,
                other => self.sleep(other, ANSWERING_TICK),
            }
            if self.head().turn.load(Ordering::Acquire) != ASKED && !is_alive(asking) {
                return None;
            }
        }
    }

    /// Answers the question that [`Channel::next`] gave.
    pub fn answer(&self, answer: &[u8]) {
        self.put(answer);
        self.pass(ANSWERED);
    }

    /// Hangs up: the answering side may end.
    pub fn close(&self) {
        self.pass(CLOSED);
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody refers to any more.
        unsafe { libc::munmap(self.start.cast(), HEAD + LARGEST) };
    }
}

/// Whether a process runs: one that has ended but that nobody has waited for does not.
fn is_alive(process: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The name before the state is in parentheses and may contain anything.
        Ok(text) => {
            let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            !matches!(state, Some('Z' | 'X'))
        }
        // SAFETY: signal 0 only asks whether the process is there.
        Err(_) => unsafe { libc::kill(process, 0) == 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child that ends with status 0 if the closure says so.
    fn forked(child: impl FnOnce() -> bool) -> i32 {
        // SAFETY: the child runs the closure and leaves.
        match unsafe { libc::fork() } {
            0 => {
                let well = child();
                // SAFETY: the child ends here, and runs no handlers of its parent.
                unsafe { libc::_exit(i32::from(!well)) }
            }
            pid => pid,
        }
    }

    fn reap(pid: i32) -> i32 {
        let mut status = 0;
        // SAFETY: waits for our own child.
        unsafe { libc::waitpid(pid, &mut status, 0) };
        status
    }

    #[test]
    fn every_question_gets_its_answer() {
        let channel = Channel::new().unwrap();
        let asking = std::process::id() as i32;
        let other = forked(|| {
            while let Some(question) = channel.next(asking) {
                channel.answer(&question.iter().rev().copied().collect::<Vec<u8>>());
            }
            true
        });
        for size in [0usize, 1, 7, 4096, 1 << 20] {
            let question: Vec<u8> = (0..size).map(|index| index as u8).collect();
            let mut answer = Vec::new();
            assert!(channel.ask(&question, &mut answer, other, Duration::from_secs(20)), "alive");
            assert!(answer.iter().rev().eq(question.iter()));
        }
        channel.close();
        assert_eq!(reap(other), 0);
    }

    #[test]
    fn a_death_and_a_hang_are_noticed() {
        let channel = Channel::new().unwrap();
        let asking = std::process::id() as i32;
        let dies = forked(|| channel.next(asking).is_some());
        assert!(!channel.ask(b"?", &mut Vec::new(), dies, Duration::from_secs(20)));
        assert_eq!(reap(dies), 0);
        let hangs = forked(|| {
            std::thread::sleep(Duration::from_secs(60));
            true
        });
        assert!(!channel.ask(b"?", &mut Vec::new(), hangs, Duration::from_millis(50)));
        // SAFETY: our own child.
        unsafe { libc::kill(hangs, libc::SIGKILL) };
        reap(hangs);
    }

    #[test]
    fn whoever_answers_ends_with_whoever_asks() {
        let channel = Channel::new().unwrap();
        let asking = forked(|| true);
        let answering = forked(|| channel.next(asking).is_none());
        reap(asking);
        assert_eq!(reap(answering), 0);
    }
}
