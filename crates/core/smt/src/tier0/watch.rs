//! The watch on a search: time, conflicts.

use crate::{Limits, Reason};
use batsat::{Callbacks, ClauseKind, Lit};
use std::cell::Cell;
use std::time::Instant;

/// How many looks pass between two looks at the clock.
const TICKS: u32 = 64;

/// Stops a search when its limits are reached.
#[derive(Default)]
pub(crate) struct Watch {
    deadline: Option<Instant>,
    conflicts: Option<u64>,
    ticks: Cell<u32>,
    late: Cell<bool>,
}

impl Watch {
    /// Starts a check.
    pub fn start(&mut self, limits: &Limits) {
        self.deadline = limits.time.map(|time| Instant::now() + time);
        self.conflicts = limits.conflicts;
        self.ticks.set(0);
        self.late.set(false);
    }

    /// Why the search must stop, if it must.
    pub fn reason(&self) -> Option<Reason> {
        if self.conflicts == Some(0) {
            return Some(Reason::Search);
        }
        let tick = self.ticks.get();
        self.ticks.set(tick.wrapping_add(1));
        if tick.is_multiple_of(TICKS) && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.late.set(true);
        }
        self.late.get().then_some(Reason::Time)
    }
}

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        self.reason().is_some()
    }

    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt
            && let Some(left) = &mut self.conflicts
        {
            *left = left.saturating_sub(1);
        }
    }
}
