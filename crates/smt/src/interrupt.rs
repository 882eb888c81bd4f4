//! Stopping a check from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that stops checks, from any thread.
///
/// Once pulled, running and later checks answer `Unknown(Interrupted)` until [`Interrupt::clear`].
#[derive(Clone, Default)]
pub struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    pulled: AtomicBool,
}

impl Interrupt {
    /// A handle that nobody has pulled.
    pub fn new() -> Self {
        Interrupt::default()
    }

    /// Stops the running check, and every later one until [`Interrupt::clear`].
    pub fn pull(&self) {
        self.shared.pulled.store(true, Ordering::SeqCst);
    }

    /// Lets checks run again.
    pub fn clear(&self) {
        self.shared.pulled.store(false, Ordering::SeqCst);
    }

    /// Whether checks are to stop.
    #[inline]
    pub fn is_pulled(&self) -> bool {
        self.shared.pulled.load(Ordering::Relaxed)
    }
}
