//! Signals that the host has delivered and the program has not seen yet.
//!
//! The handler that stands in for the program's own appends to a ring; the execution loop takes from it. The handler runs
//! with all signals blocked, and in the one thread that takes, so the two never race but for the order of two writes.

use crate::attention;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the kernel says about a signal.
pub type Information = [u8; 128];

/// Real-time signals queue; so many at a time are kept apart.
const ROOM: usize = 256;

struct Ring {
    entries: std::cell::UnsafeCell<[(i32, Information); ROOM]>,
    /// How many were ever written.
    written: AtomicUsize,
    /// How many were ever taken.
    taken: AtomicUsize,
}

// See the head of the module.
unsafe impl Sync for Ring {}

static RING: Ring = Ring {
    entries: std::cell::UnsafeCell::new([(0, [0; 128]); ROOM]),
    written: AtomicUsize::new(0),
    taken: AtomicUsize::new(0),
};

/// Stands in for every handler of the program.
pub extern "C" fn note(signal: i32, information: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE);
    // The kernel calls with a valid record, and all other signals are blocked meanwhile.
    unsafe {
        if fault && (*information).si_code > 0 {
            // A fault of Parallax itself: returning would only repeat it, so let it be fatal.
            libc::signal(signal, libc::SIG_DFL);
            return;
        }
        let written = RING.written.load(Ordering::Relaxed);
        if written - RING.taken.load(Ordering::Relaxed) < ROOM {
            (*RING.entries.get())[written % ROOM] = (signal, *information.cast::<Information>());
            RING.written.store(written + 1, Ordering::Release);
        }
    }
    attention::want();
}

/// The oldest that has not been taken.
pub fn take() -> Option<(i32, Information)> {
    let taken = RING.taken.load(Ordering::Relaxed);
    if taken == RING.written.load(Ordering::Acquire) {
        return None;
    }
    // It was complete before it was counted, and is not overwritten before it counts as taken.
    let entry = unsafe { (*RING.entries.get())[taken % ROOM] };
    RING.taken.store(taken + 1, Ordering::Release);
    Some(entry)
}

/// The numbers of those that wait.
pub fn waiting() -> impl Iterator<Item = i32> {
    let (taken, written) = (RING.taken.load(Ordering::Relaxed), RING.written.load(Ordering::Acquire));
    (taken..written).map(|index| unsafe { (*RING.entries.get())[index % ROOM].0 })
}
