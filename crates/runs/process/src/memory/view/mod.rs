//! Pages of the program at their own addresses, where instructions that run natively find them.
//!
//! It is a third cache beside those of host addresses, kept by the host's memory unit: a page is shown when an access of it has
//! faulted and the access may be made without further thought, and hidden wherever the other two forget it. So everything that
//! the slow way decides (what is shared, guarded, code, or has not been touched) is decided for native code by the same lines.
//! What is not shown is accessed by the exact engine.

use super::{Access, Memory, OFFSET, PAGE};
use parallax_native::host::{Pool, Twin, View};
use std::sync::Arc;

impl Memory {
    /// From now on pages are shown at their own addresses when they are asked for.
    pub(crate) fn settle(&mut self, pool: &Arc<Pool>) {
        self.flush();
        for (number, frame) in &mut self.pages {
            // SAFETY: nothing runs meanwhile.
            *frame = unsafe { frame.copy(*number, Some(pool)) };
        }
        // SAFETY: nothing writes it ever.
        self.zero = unsafe { self.zero.copy(0, Some(pool)) };
        self.view = Some(Box::new(View::new(pool.clone(), self.end)));
    }

    /// From now on no page is shown.
    pub(crate) fn unsettle(&mut self) {
        self.view = None;
    }

    /// Whether pages are shown, and all of it may be left to native code: no access is to be told.
    pub(crate) fn is_settled(&self) -> bool {
        self.view.is_some() && self.guarded.is_empty() && self.touched.is_none()
    }

    /// Shows the page of an access of native code; false if the access has to be made in another way.
    pub(crate) fn show(&mut self, address: u64, writes: bool) -> bool {
        // What others share is compared, or counted, at each access.
        if self.is_shared(address) {
            return false;
        }
        // An access that cannot be made is made again, and counts then.
        let quiet = std::mem::replace(&mut self.quiet, true);
        self.guard_code(true);
        let found = if writes { self.writable(address, true) } else { self.readable(address, Access::Read) };
        self.guard_code(false);
        self.quiet = quiet;
        if found.is_err() {
            return false;
        }
        let page = address & !OFFSET;
        let (host, writable) = match self.writes.find::<1>(page) {
            Some(host) => (host, true),
            None if writes => return false,
            None => match self.reads.find::<1>(page) {
                Some(host) => (host, false),
                None => return false,
            },
        };
        let number = page / PAGE;
        self.view.as_mut().is_some_and(|view| view.show(number, host, writable))
    }

    /// The pool that frames come from.
    pub(super) fn pool(&self) -> Option<&Arc<Pool>> {
        self.view.as_ref().map(|view| view.pool())
    }

    /// Hides pages, by number, that are not what they were.
    pub(super) fn hide(&mut self, first: u64, last: u64) {
        if let Some(view) = &mut self.view {
            view.hide(first, last);
        }
    }

    /// A copy of the pool, for a child that is about to be made; none if there is no pool.
    pub(crate) fn twin(&self) -> Result<Option<Twin>, ()> {
        self.pool().map(|pool| pool.twin().ok_or(())).transpose()
    }

    /// This process is a child: its memory is the copy. False if the host refuses.
    pub(crate) fn become_twin(&mut self, twin: Option<Twin>) -> bool {
        let (Some(twin), Some(view)) = (twin, &mut self.view) else { return true };
        view.clear();
        self.pool().is_some_and(|pool| pool.become_twin(twin))
    }
}

#[cfg(test)]
mod tests;
