//! One bit that the execution loop looks at before every block: a signal came to this process of the host.

use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);

/// Asks the loop to stop before the next block. Safe in a signal handler.
pub fn want() {
    WANTED.store(true, Ordering::SeqCst);
}

/// Whether somebody asked.
#[inline(always)]
pub fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Forgets that somebody asked: whoever calls this looks at every cause afterwards.
pub fn clear() {
    WANTED.store(false, Ordering::SeqCst);
}
