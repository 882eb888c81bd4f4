//! What a trace is taken from: anything with instants that can be searched for conditions.
//!
//! A recording is a target, and so is a plain list of times. The rest of this crate only ever calls [`Target::search`].

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

/// An instant: the number of an executed instruction. The first instruction is 1, so that "after 0" is "from the
/// start" although "after" is strict.
pub type Time = u64;

/// Later than everything.
pub const INF: Time = Time::MAX;

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From early to late; the near end is the lower one.
    Forward,
    /// From late to early; the near end is the upper one.
    Backward,
}

/// An instant at which some of the conditions searched for hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// When.
    pub time: Time,
    /// Bit *i* is set if the *i*-th condition of the search holds at that time. Never 0.
    pub which: u64,
}

/// What a search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The hits inside `decided`, nearest first: rising times forward, falling times backward. One per time.
    pub hits: Vec<Hit>,
    /// Where the answer is complete: every instant in here at which a condition holds is among the hits.
    pub decided: Range<Time>,
}

/// How a long search learns that it is no longer wanted, and tells how far it is.
pub trait Watch {
    /// Whether to stop. A search calls this on the thread that called it, about every 10 ms; never from its workers.
    fn stop(&self) -> bool;
    /// The search has decided everything between its near end and `at`. Called now and then, on the same thread.
    fn progress(&self, at: Time);
}

/// Never stops a search.
pub struct Unwatched;

impl Watch for Unwatched {
    fn stop(&self) -> bool {
        false
    }
    fn progress(&self, _at: Time) {}
}

/// Something that happened over time: a recording, a running program, a list.
///
/// A target answers from any thread, and its past never changes: two searches of one instant agree, whatever
/// direction, bounds or other conditions they had.
pub trait Target: Send + Sync + 'static {
    /// What can be searched for: calls of a function, writes to an address. Equal conditions hold at the same times.
    type Condition: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// The state of the target between two instants.
    type State;
    /// Why a search or a state has no answer: a damaged recording, a time outside the span.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The instants there are: from the first, at least 1, up to but without the end. The end of a running target
    /// grows, and nothing else changes.
    fn span(&self) -> Range<Time>;

    /// Whether the end will not grow any more. From then on [`Target::span`] stays.
    fn finished(&self) -> bool;

    /// The state before the instruction `time` is executed; at the end of the span, the last state.
    fn state(&self, time: Time) -> Result<Self::State, Self::Error>;

    /// Finds the first `max` instants, going in `direction` from the near end of `within`, at which at least one of
    /// the conditions holds.
    ///
    /// The caller promises: `within` is not empty and lies in the span; there are 1 to 64 distinct conditions; `max`
    /// is at least 1 and may be `usize::MAX`.
    ///
    /// The target promises, about the [`Found`] that it gives back:
    /// - `decided` lies in `within` and starts at its near end: forward `decided.start == within.start`, backward
    ///   `decided.end == within.end`.
    /// - `hits` are exactly the instants in `decided` at which a condition holds, nearest first, at most `max`. Each
    ///   names *all* of the conditions that hold at its time.
    /// - With `max` hits `decided` reaches at least to the last of them and includes it; with fewer it is `within`.
    /// - The exception: after [`Watch::stop`] has said yes, the search returns soon with what it has decided so far,
    ///   which may be nothing. What it did decide is complete all the same, and is kept.
    fn search(
        &self,
        conditions: &[Self::Condition],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found, Self::Error>;
}
