//! Stopping a check from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

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
    hooks: Mutex<Vec<(usize, Hook)>>,
}

type Hook = Box<dyn Fn() + Send>;

impl Interrupt {
    /// A handle that nobody has pulled.
    pub fn new() -> Self {
        Interrupt::default()
    }

    /// Stops the running check, and every later one until [`Interrupt::clear`].
    pub fn pull(&self) {
        self.shared.pulled.store(true, Ordering::SeqCst);
        for (_, hook) in self.hooks().iter() {
            hook();
        }
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

    /// Calls `hook` on every pull, until the guard is dropped: for backends that do not look by themselves.
    pub(crate) fn on_pull(&self, hook: impl Fn() + Send + 'static) -> HookGuard {
        let mut hooks = self.hooks();
        let number = hooks.last().map_or(0, |(number, _)| number + 1);
        hooks.push((number, Box::new(hook)));
        HookGuard { interrupt: self.clone(), number }
    }

    fn hooks(&self) -> std::sync::MutexGuard<'_, Vec<(usize, Hook)>> {
        self.shared.hooks.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Keeps a hook in place.
pub(crate) struct HookGuard {
    interrupt: Interrupt,
    number: usize,
}

impl Drop for HookGuard {
    fn drop(&mut self) {
        self.interrupt.hooks().retain(|(number, _)| *number != self.number);
    }
}
