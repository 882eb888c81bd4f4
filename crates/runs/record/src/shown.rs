//! Which descriptors of a replayed program lead to our own output.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// By descriptor, which of ours it is. The door that keeps it up to date and whoever replays the program share it.
#[derive(Clone)]
pub(crate) struct Shown(Arc<Mutex<BTreeMap<u64, u8>>>);

impl Shown {
    /// As a program starts: its output is our output, and its errors are our errors.
    pub(crate) fn new() -> Shown {
        Shown(Arc::new(Mutex::new(BTreeMap::from([(1, 1), (2, 2)]))))
    }

    /// A child starts with those that its parent has now.
    pub(crate) fn inherit(&self, parent: &Shown) {
        let now = parent.with(|descriptors| descriptors.clone());
        self.with(|descriptors| *descriptors = now);
    }

    pub(crate) fn copy(&self, from: u64, to: u64) {
        self.with(|descriptors| match descriptors.get(&from).copied() {
            Some(target) => descriptors.insert(to, target),
            None => descriptors.remove(&to),
        });
    }

    pub(crate) fn close(&self, descriptor: u64) {
        self.with(|descriptors| descriptors.remove(&descriptor));
    }

    /// Whether what is written there is ours to show.
    pub(crate) fn shows(&self, descriptor: u64) -> bool {
        self.with(|descriptors| descriptors.contains_key(&descriptor))
    }

    /// Writes what the program wrote. A reader that went away does not concern the replay.
    pub(crate) fn write(&self, descriptor: u64, bytes: &[u8]) {
        let _ = match self.with(|descriptors| descriptors.get(&descriptor).copied()) {
            Some(1) => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
            Some(_) => std::io::stderr().write_all(bytes),
            None => Ok(()),
        };
    }

    fn with<T>(&self, f: impl FnOnce(&mut BTreeMap<u64, u8>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
