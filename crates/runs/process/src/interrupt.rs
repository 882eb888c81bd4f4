//! One bit that the execution loop looks at before every block: something came up that the process has to look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The bit of one process. Clones are the same bit, so that a signal handler or another thread can hold one.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the loop to stop before the next block. Safe in a signal handler.
    pub fn want(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was asked to stop.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it was asked to stop; forgets it. The caller looks at every cause afterwards.
    pub fn take(&self) -> bool {
        self.is_wanted() && self.0.swap(false, Ordering::SeqCst)
    }

    /// The bit itself, for a loop that reads it very often.
    pub(crate) fn bit(&self) -> *const AtomicBool {
        Arc::as_ptr(&self.0)
    }
}
