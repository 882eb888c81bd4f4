//! How often a solver is asked, and how long it takes.

use super::forward;
use crate::{Answer, Solver};
use parallax_term::Formula;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What a [`Counter`] has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Queries answered yes.
    pub sat: u64,
    /// Queries answered no.
    pub unsat: u64,
    /// Queries not answered.
    pub unknown: u64,
    /// Time spent, all in all.
    pub time: Duration,
    /// The longest that one query took.
    pub longest: Duration,
}

impl Statistics {
    /// All queries.
    pub fn checks(&self) -> u64 {
        self.sat + self.unsat + self.unknown
    }
}

/// Counts queries. Anywhere in a stack: what it counted can be read through a handle.
pub struct Counter<S> {
    inner: S,
    seen: Rc<Cell<Statistics>>,
}

impl<S> Counter<S> {
    /// Counts queries to `inner`.
    pub fn new(inner: S) -> Self {
        Counter { inner, seen: Rc::default() }
    }

    /// What was seen so far.
    pub fn statistics(&self) -> Statistics {
        self.seen.get()
    }

    /// A handle to what is seen, for when the counter itself is wrapped.
    pub fn handle(&self) -> Rc<Cell<Statistics>> {
        self.seen.clone()
    }
}

impl<'s, S: Solver<'s>> Solver<'s> for Counter<S> {
    forward!(inner);

    fn check(&mut self, query: &[Formula]) -> Answer {
        let start = Instant::now();
        let answer = self.inner.check(query);
        let took = start.elapsed();
        let mut seen = self.seen.get();
        match answer {
            Answer::Sat(_) => seen.sat += 1,
            Answer::Unsat => seen.unsat += 1,
            Answer::Unknown(_) => seen.unknown += 1,
        }
        seen.time += took;
        seen.longest = seen.longest.max(took);
        self.seen.set(seen);
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        self.inner.unsat_core()
    }
}
