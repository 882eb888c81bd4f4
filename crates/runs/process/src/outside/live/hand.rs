//! Calls that may keep their caller waiting, made by a thread of the host while other threads of the program run.
//!
//! A hand makes one raw call on buffers that it owns, and says when it is done. It allocates nothing meanwhile, so that a
//! fork of the process finds no lock held by it.

use super::kernel;
use crate::system::Answer;
use parallax_native::host::signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Interrupts the call of a hand. Programs that were written in this century do not use it.
pub const NUDGE: i32 = libc::SIGSTKFLT;

const WAITING: u32 = 0;
const DONE: u32 = 1;

struct Shared {
    state: AtomicU32,
    /// The host's number of the thread that makes the call.
    thread: AtomicI32,
    answer: Mutex<Option<Answer>>,
    /// What the call's pointers point into; it must live as long as the thread.
    buffers: Mutex<Vec<Option<Vec<u8>>>>,
}

/// A call under way.
pub struct Hand {
    shared: Arc<Shared>,
}

impl Hand {
    /// Makes a call in another thread; its pointers are into the buffers, which stay where they are.
    pub fn new(number: i64, arguments: [usize; 6], buffers: Vec<Option<Vec<u8>>>) -> Option<Hand> {
        let shared = Arc::new(Shared {
            state: AtomicU32::new(WAITING),
            thread: AtomicI32::new(0),
            answer: Mutex::new(None),
            buffers: Mutex::new(buffers),
        });
        let mine = shared.clone();
        // The new thread must not take signals that are meant for the program.
        let all = u64::MAX;
        let mut old = 0u64;
        let mask = |how: i32, new: &u64, old: &mut u64| {
            let arguments =
                [how as usize, std::ptr::from_ref(new) as usize, std::ptr::from_mut(old) as usize, 8, 0, 0];
            let _ = kernel(libc::SYS_rt_sigprocmask, arguments);
        };
        mask(libc::SIG_SETMASK, &all, &mut old);
        let started = std::thread::Builder::new().stack_size(1 << 16).spawn(move || {
            let nudge = 1u64 << (NUDGE - 1);
            mine.thread.store(kernel(libc::SYS_gettid, [0; 6]).unwrap_or(0) as i32, Ordering::SeqCst);
            mask(libc::SIG_UNBLOCK, &nudge, &mut 0);
            let answer = kernel(number, arguments);
            *lock(&mine.answer) = Some(answer);
            mine.state.store(DONE, Ordering::SeqCst);
        });
        mask(libc::SIG_SETMASK, &old, &mut 0);
        started.ok().map(|_| Hand { shared })
    }

    /// What the call came to and its buffers, once it is done.
    pub fn answer(&self) -> Option<(Answer, Vec<Option<Vec<u8>>>)> {
        if self.shared.state.load(Ordering::SeqCst) != DONE {
            return None;
        }
        let answer = lock(&self.shared.answer).take()?;
        Some((answer, std::mem::take(&mut *lock(&self.shared.buffers))))
    }

    /// Interrupts the call and waits for its end: whether it had been made after all, the answer stands.
    pub fn interrupt(&self) -> Option<Answer> {
        install_nudge();
        // A nudge that comes before the call is lost, so there may have to be another.
        while self.shared.state.load(Ordering::SeqCst) != DONE {
            let thread = self.shared.thread.load(Ordering::SeqCst);
            if thread != 0 {
                let me = std::process::id() as usize;
                let _ = kernel(libc::SYS_tgkill, [me, thread as usize, NUDGE as usize, 0, 0, 0]);
            }
            let nap = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
            let _ = kernel(libc::SYS_nanosleep, [&raw const nap as usize, 0, 0, 0, 0, 0]);
        }
        *lock(&self.shared.answer)
    }

    /// Forgets a hand that is another process': this one is a fork, where its thread does not exist.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

extern "C" fn nothing(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {}

/// A handler that does nothing, but ends the call that it interrupts.
fn install_nudge() {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let (address, flags) = signals::handler(nothing as *const () as usize);
    action.sa_sigaction = address;
    action.sa_flags = flags;
    // SAFETY: the call reads and writes only what it is handed, which lives long enough.
    unsafe { libc::sigaction(NUDGE, &action, std::ptr::null_mut()) };
}
