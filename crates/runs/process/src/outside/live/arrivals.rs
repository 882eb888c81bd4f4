//! Signals that the host has delivered and the program has not seen yet.
//!
//! The handler that stands in for the program's own appends to a ring; the execution loop takes from it. The handler runs
//! with all signals blocked, and in the one thread that takes, so the two never race but for the order of two writes.
//! When the ring is full the handler returns with all signals blocked: the kernel keeps the rest until there is room.
//!
//! A handler has nothing but statics to look at, so one says whose ring it is: the signals of a process of the host can
//! belong to one emulated process at a time.

use crate::interrupt::Interrupt;
use crate::outside::Information;
use parallax_native::host::signals;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// So many signals at a time are kept here.
const ROOM: usize = 512;
/// With so many the handler blocks the others. Somebody may be about to set a mask just then, which lets one more in each time:
/// the rest of the room is for those.
const FULL: usize = ROOM - 128;

/// The ring of one process.
pub struct Ring {
    entries: std::cell::UnsafeCell<[(i32, Information); ROOM]>,
    /// How many were ever written.
    written: AtomicUsize,
    /// How many were ever taken.
    taken: AtomicUsize,
    /// The handler has blocked all signals, for want of room.
    full: AtomicBool,
    interrupt: Interrupt,
}

/// The ring that the handler writes to.
static CLAIMED: AtomicPtr<Ring> = AtomicPtr::new(std::ptr::null_mut());

/// The signals of this process of the host, claimed for one emulated process.
pub struct Claim {
    ring: *mut Ring,
}

impl Claim {
    /// Claims the signals; none if they are claimed already.
    pub fn new(interrupt: Interrupt) -> Option<Claim> {
        let ring = Box::into_raw(Box::new(Ring {
            entries: std::cell::UnsafeCell::new([(0, [0; 128]); ROOM]),
            written: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            interrupt,
        }));
        let nobody = std::ptr::null_mut();
        match CLAIMED.compare_exchange(nobody, ring, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => Some(Claim { ring }),
            Err(_) => {
                // SAFETY: it was never shown to anyone.
                drop(unsafe { Box::from_raw(ring) });
                None
            }
        }
    }

    fn ring(&self) -> &Ring {
        // SAFETY: it lives as long as the claim.
        unsafe { &*self.ring }
    }

    /// The oldest that has not been taken.
    pub fn take(&self) -> Option<(i32, Information)> {
        let ring = self.ring();
        let taken = ring.taken.load(Ordering::Relaxed);
        if taken == ring.written.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it was complete before it was counted, and is not overwritten before it counts as taken.
        let entry = unsafe { (*ring.entries.get())[taken % ROOM] };
        ring.taken.store(taken + 1, Ordering::Release);
        Some(entry)
    }

    /// Whether the handler has blocked all signals, and its mask is to stay.
    pub fn is_full(&self) -> bool {
        self.ring().full.load(Ordering::SeqCst)
    }

    /// Whether the handler has blocked all signals since the last call: the mask has to be set again.
    pub fn was_full(&self) -> bool {
        self.ring().full.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The handlers may stay installed, and find nobody. The ring is not freed: one of them may be running.
        CLAIMED.store(std::ptr::null_mut(), Ordering::SeqCst);
    }
}

/// Makes sure that an access of a file that was cut comes back with a failure, also where the host's signals are not ours: it
/// is a signal about our own access, which nobody else can mean.
pub fn survive_cut_files() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        let known = unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut old) } == 0;
        if !known || is_ours(&old) {
            return;
        }
        // SAFETY: as above.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        let (address, flags) = handler();
        action.sa_sigaction = address;
        action.sa_flags = flags | libc::SA_ONSTACK;
        // SAFETY: as above.
        unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) };
    });
}

/// What to install to have signals noted, with its flags.
pub fn handler() -> (usize, i32) {
    signals::handler(note as *const () as usize)
}

/// Whether an action notes signals.
pub fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == note as *const () as usize || action.sa_sigaction == handler().0
}

/// The signals of these that may be blocked: what is our own fault is for us to know at once. Sent by somebody, it waits here.
pub fn blockable(mask: u64) -> u64 {
    let at_once = if signals::is_installed() { signals::of_faults() } else { 1 << (libc::SIGBUS - 1) };
    mask & !at_once
}

/// Hears of the signals that are no faults of a program that runs natively.
pub extern "C" fn forwarded(signal: i32, information: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if signal != super::hand::NUDGE {
        note(signal, information, context);
    }
}

/// Stands in for every handler of the program.
pub extern "C" fn note(signal: i32, information: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE);
    // SAFETY: the kernel calls with valid records, and all other signals are blocked meanwhile.
    unsafe {
        if fault && (*information).si_code > 0 {
            #[cfg(target_arch = "x86_64")]
            if signal == libc::SIGBUS
                && let Some(place) = crate::memory::guarded::recovery()
            {
                // The program has mapped a file that was cut.
                let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
                registers[libc::REG_RIP as usize] = place as i64;
                return;
            }
            // A fault of Parallax itself: returning would only repeat it, so let it be fatal.
            libc::signal(signal, libc::SIG_DFL);
            return;
        }
        let Some(ring) = CLAIMED.load(Ordering::SeqCst).as_ref() else { return };
        let written = ring.written.load(Ordering::Relaxed);
        let waiting = written - ring.taken.load(Ordering::Relaxed);
        if waiting < ROOM {
            (*ring.entries.get())[written % ROOM] = (signal, *information.cast::<Information>());
            ring.written.store(written + 1, Ordering::Release);
        }
        if waiting + 1 >= FULL {
            // What the kernel restores when this returns.
            let mask = &mut (*context.cast::<libc::ucontext_t>()).uc_sigmask;
            libc::sigfillset(mask);
            let at_once = !blockable(u64::MAX);
            (1..=64).filter(|signal| at_once >> (signal - 1) & 1 != 0).for_each(|signal| {
                libc::sigdelset(mask, signal);
            });
            ring.full.store(true, Ordering::SeqCst);
        }
        ring.interrupt.want();
    }
}
