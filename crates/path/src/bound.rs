//! Where an analysis stopped short, and whether its answer is complete.
//!
//! An answer carries a [`Completeness`], and a [`Ledger`] is the only thing one can be had from: the ledger that every
//! bound was noted in, closed over the frontier that is left. So "nothing found" cannot be said of what was not looked
//! at; and a choice between [`Candidates`] cannot be made without an entry for those that were left out.

use crate::Frontier;
use parallax_smt::Reason;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// A bound that was hit: what lies beyond it was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// Whether this mistake is possible could not be decided.
    Undecided(&'static str),
    /// Input objects were more than this many pointers away.
    Chain(u32),
    /// It is not known where control goes from here on; from where, and why.
    Control(String),
    /// There were more than this many candidates for a choice; of what, in words.
    Candidates(usize, &'static str),
    /// There was no candidate for a choice that a path had to make, or some could not be taken; which, in words.
    Missing(String),
    /// A path had more than this many undecided branches.
    Depth(u32),
    /// All paths together had more than this many instructions.
    Instructions(u64),
    /// One branch was taken more than this many times.
    Loops(u32),
    /// The process held more than this many bytes.
    Memory(u64),
    /// There were more than this many paths.
    Paths(u64),
    /// There were more than this many places, counted in each context.
    Places(usize),
    /// The solver did not know.
    Solver(Reason),
    /// More than this many states were alive at once.
    States(usize),
    /// A path had more than this many instructions.
    Steps(u64),
    /// A path came to an instruction that cannot be executed; why.
    Stuck(String),
    /// The analysis took longer than this.
    Time(Duration),
    /// A loop was followed this many times; which, in words.
    Unrolled(u32, String),
    /// Something that the analysis does not do, and where.
    Unsupported(String),
    /// States were left over when the analysis ended.
    Unvisited(usize),
    /// More than this many values were looked at one by one; of what, in words.
    Values(u64, String),
}

impl Bound {
    /// Its name in documents for programs, which stays as it is.
    pub fn name(&self) -> &'static str {
        match self {
            Bound::Undecided(_) => "undecided",
            Bound::Chain(_) => "chain",
            Bound::Candidates(..) | Bound::Missing(_) => "choices",
            Bound::Control(_) => "control",
            Bound::Depth(_) => "depth",
            Bound::Loops(_) | Bound::Unrolled(..) => "loops",
            Bound::Memory(_) => "memory",
            Bound::Paths(_) => "paths",
            Bound::Places(_) => "places",
            Bound::Solver(_) => "solver",
            Bound::States(_) => "states",
            Bound::Steps(_) | Bound::Instructions(_) => "steps",
            Bound::Stuck(_) => "stuck",
            Bound::Time(_) => "time",
            Bound::Unsupported(_) => "unsupported",
            Bound::Unvisited(_) => "unvisited",
            Bound::Values(..) => "values",
        }
    }

    fn time(&self) -> Option<Duration> {
        match self {
            Bound::Time(time) => Some(*time),
            _ => None,
        }
    }

    /// Whether more time, memory or patience would not help: the analysis does not do this.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Bound::Unsupported(_))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Undecided(what) => write!(f, "a possible {what} could not be decided"),
            Bound::Chain(most) => write!(f, "chain: input objects more than {most} pointers away"),
            Bound::Candidates(most, what) => write!(f, "choices: more than {most} {what}"),
            Bound::Missing(what) => write!(f, "choices: {what}"),
            Bound::Control(why) | Bound::Stuck(why) => f.write_str(why),
            Bound::Depth(most) => write!(f, "depth: {most} undecided branches on one path"),
            Bound::Instructions(most) => write!(f, "stopped after {most} instructions"),
            Bound::Loops(most) => write!(f, "loops: {most} times through one branch"),
            Bound::Memory(most) => write!(f, "memory: {} MB", most >> 20),
            Bound::Paths(most) => write!(f, "paths: {most}"),
            Bound::Places(most) => write!(f, "more than {most} places, counted in each context"),
            Bound::Solver(reason) => write!(f, "solver: {reason}"),
            Bound::States(most) => write!(f, "states: {most} at once"),
            Bound::Steps(most) => write!(f, "steps: a path of {most} instructions"),
            Bound::Time(most) => write!(f, "time: {} s", (most.as_secs_f64() * 1e3).round() / 1e3),
            Bound::Unsupported(what) => write!(f, "unsupported: {what}"),
            Bound::Unrolled(most, loop_) => write!(f, "unrolled {most} times at {loop_}"),
            Bound::Unvisited(count) => write!(f, "states: {count} were never visited"),
            Bound::Values(most, what) => write!(f, "values: more than {most} {what}"),
        }
    }
}

/// Every bound that was hit so far.
#[derive(Debug, Default)]
pub struct Ledger {
    bounds: BTreeSet<Bound>,
}

impl Ledger {
    /// Notes a bound.
    pub fn note(&mut self, bound: Bound) {
        self.bounds.insert(bound);
    }

    /// Closes the ledger over what is left of a search. States that nobody accounts for are a bound of their own.
    pub fn close<S>(mut self, left: &Frontier<S>) -> Completeness {
        if self.bounds.is_empty() && !left.is_empty() {
            self.note(Bound::Unvisited(left.len()));
        }
        Completeness { bounds: self.bounds }
    }
}

/// Whether an answer speaks of everything there is. There is no way to make one but [`Ledger::close`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completeness {
    bounds: BTreeSet<Bound>,
}

impl Completeness {
    /// Whether everything was looked at.
    pub fn is_complete(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Whether there would have been more to look at with more time.
    pub fn is_out_of_time(&self) -> bool {
        self.bounds.iter().any(|bound| bound.time().is_some())
    }

    /// What two answers together speak of. Where each ran out of time, both together ran out of the sum.
    pub fn and(mut self, other: Completeness) -> Completeness {
        let spent: Vec<Duration> = self.bounds.iter().chain(&other.bounds).filter_map(Bound::time).collect();
        self.bounds.extend(other.bounds);
        if spent.len() > 1 {
            self.bounds.retain(|bound| bound.time().is_none());
            self.bounds.insert(Bound::Time(spent.iter().sum()));
        }
        self
    }

    /// Why not, in order.
    pub fn bounds(&self) -> impl ExactSizeIterator<Item = &Bound> {
        self.bounds.iter()
    }
}

/// What there is to choose from, and what was left out.
///
/// The candidates are had only by [`Candidates::settle`], which notes what was left out and fails if there are none: a
/// path that has nothing to choose from ends at a bound.
#[derive(Debug)]
pub struct Candidates<T> {
    found: Vec<T>,
    left_out: Vec<Bound>,
}

impl<T> Default for Candidates<T> {
    fn default() -> Self {
        Candidates { found: Vec::new(), left_out: Vec::new() }
    }
}

impl<T> Candidates<T> {
    /// Adds a candidate.
    pub fn offer(&mut self, candidate: T) {
        self.found.push(candidate);
    }

    /// Says that there are others, and why they are no candidates here.
    pub fn leave_out(&mut self, why: Bound) {
        self.left_out.push(why);
    }

    /// Keeps the first `most`; `what` says in words what they are.
    pub fn at_most(&mut self, most: usize, what: &'static str) {
        if self.found.len() > most {
            self.found.truncate(most);
            self.leave_out(Bound::Candidates(most, what));
        }
    }

    /// The candidates, at least one; what was left out is noted. Fails with the bound to end the path at.
    pub fn settle(
        self,
        mut note: impl FnMut(Bound),
        nothing: impl FnOnce() -> String,
    ) -> Result<Vec<T>, Bound> {
        let mut last = None;
        for bound in self.left_out {
            note(bound.clone());
            last = Some(bound);
        }
        match (self.found.is_empty(), last) {
            (false, _) => Ok(self.found),
            (true, Some(bound)) => Err(bound),
            (true, None) => Err(Bound::Missing(nothing())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strategy;

    #[test]
    fn what_waits_is_never_called_complete() {
        let mut frontier = Frontier::new(Strategy::Depth, 1);
        assert!(Ledger::default().close(&frontier).is_complete());
        frontier.push("a state", false);
        let left = Ledger::default().close(&frontier);
        assert_eq!(left.bounds().map(Bound::name).collect::<Vec<_>>(), ["unvisited"]);
        let mut ledger = Ledger::default();
        ledger.note(Bound::Paths(3));
        assert_eq!(ledger.close(&frontier).bounds().map(Bound::to_string).collect::<Vec<_>>(), ["paths: 3"]);
    }

    #[test]
    fn two_answers_out_of_time_are_out_of_both_times() {
        let cut = |seconds| {
            let mut ledger = Ledger::default();
            ledger.note(Bound::Time(Duration::from_secs(seconds)));
            ledger.close(&Frontier::<()>::new(Strategy::Depth, 1))
        };
        for (one, another) in [(2, 2), (2, 3)] {
            let both = cut(one).and(cut(another));
            assert_eq!(both.bounds().collect::<Vec<_>>(), [&Bound::Time(Duration::from_secs(one + another))]);
        }
    }

    #[test]
    fn a_choice_without_candidates_is_a_bound() {
        let none = Candidates::<u32>::default().settle(|_| (), || "no function that f may be".into());
        assert_eq!(none, Err(Bound::Missing("no function that f may be".into())));

        let mut noted = Vec::new();
        let mut only_left_out = Candidates::<u32>::default();
        only_left_out.leave_out(Bound::Chain(4));
        assert_eq!(only_left_out.settle(|bound| noted.push(bound), String::new), Err(Bound::Chain(4)));
        assert_eq!(noted, [Bound::Chain(4)]);

        let mut many = Candidates::default();
        (0..5).for_each(|n| many.offer(n));
        many.at_most(3, "things");
        noted.clear();
        assert_eq!(many.settle(|bound| noted.push(bound), String::new), Ok(vec![0, 1, 2]));
        assert_eq!(noted, [Bound::Candidates(3, "things")]);
    }
}
