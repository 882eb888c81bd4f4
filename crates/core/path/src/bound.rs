//! Bounds: the reasons for which an analysis leaves something out.
//!
//! A choice between [`Candidates`] cannot be made without a bound for those that were left out.

use parallax_smt::Reason;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// A bound that was hit: what lies beyond it was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// Whether this mistake is possible could not be decided.
    Undecided(Cow<'static, str>),
    /// An unknown array would have to have more elements than this; which array, in words.
    Array(u64, String),
    /// Input objects were more than this many pointers away.
    Chain(u32),
    /// It is not known where control goes from here on; from where, and why.
    Control(String),
    /// There were more than this many candidates for a choice; of what, in words.
    Candidates(usize, Cow<'static, str>),
    /// There was no candidate for a choice that a path had to make, or some could not be taken; which, in words.
    Missing(String),
    /// A path had more than this many undecided branches.
    Depth(u32),
    /// All paths together had more than this many instructions.
    Instructions(u64),
    /// An input did not take the way it was made for: something that decides the way was not followed.
    Diverged,
    /// More than this many inputs of a compiled program.
    Inputs(u64),
    /// Something was found out too late to be used; what, in words.
    Late(String),
    /// One branch was taken more than this many times.
    Loops(u32),
    /// The process held more than this many bytes.
    Memory(u64),
    /// There were more than this many paths.
    Paths(u64),
    /// There were more than this many places, counted in each context.
    Places(usize),
    /// The solver did not know.
    Solver(#[serde(with = "reason")] Reason),
    /// Behaviour of the program was replaced by something simpler; which, and by what.
    StandsIn(String),
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
    /// No input of the run keeps what was assumed, so that nothing was looked at; what was assumed, in words.
    Vacuous(String),
    /// More than this many values were looked at one by one; of what, in words.
    Values(u64, String),
}

impl Bound {
    /// Its name in documents for programs, which stays as it is.
    pub fn name(&self) -> &'static str {
        match self {
            Bound::Undecided(_) => "undecided",
            Bound::Array(..) => "array",
            Bound::Chain(_) => "chain",
            Bound::Candidates(..) | Bound::Missing(_) => "choices",
            Bound::Control(_) => "control",
            Bound::Depth(_) => "depth",
            Bound::Diverged => "diverged",
            Bound::Late(_) => "late",
            Bound::Loops(_) | Bound::Unrolled(..) => "loops",
            Bound::Memory(_) => "memory",
            Bound::Inputs(_) | Bound::Paths(_) => "paths",
            Bound::Places(_) => "places",
            Bound::Solver(_) => "solver",
            Bound::StandsIn(_) => "stands-in",
            Bound::States(_) => "states",
            Bound::Steps(_) | Bound::Instructions(_) => "steps",
            Bound::Stuck(_) => "stuck",
            Bound::Time(_) => "time",
            Bound::Unsupported(_) => "unsupported",
            Bound::Unvisited(_) => "unvisited",
            Bound::Vacuous(_) => "vacuous",
            Bound::Values(..) => "values",
        }
    }

    /// The option of the command that raises it, if there is one.
    pub fn option(&self) -> Option<&'static str> {
        Some(match self {
            Bound::Array(..) => "--array",
            Bound::Chain(_) => "--chain",
            Bound::Depth(_) => "--depth",
            Bound::Inputs(_) => "--max-tests",
            Bound::Instructions(_) => "--instructions",
            Bound::Late(_) | Bound::Time(_) => "--time",
            Bound::Loops(_) => "--loops",
            Bound::Memory(_) => "--memory",
            Bound::Paths(_) => "--paths",
            Bound::Solver(Reason::Time) => "--solver-time",
            Bound::States(_) => "--states",
            Bound::Steps(_) => "--steps",
            _ => return None,
        })
    }

    /// Whether going on with the same run looks at what was left out: it waits.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Bound::Time(_) | Bound::Inputs(_) | Bound::Paths(_) | Bound::Unvisited(_))
    }

    pub(crate) fn time(&self) -> Option<Duration> {
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
            Bound::Array(most, what) => write!(f, "array: {what} needs more than {most} elements"),
            Bound::Chain(most) => write!(f, "chain: input objects more than {most} pointers away"),
            Bound::Candidates(most, what) => write!(f, "choices: more than {most} {what}"),
            Bound::Missing(what) => write!(f, "choices: {what}"),
            Bound::Control(why) | Bound::Stuck(why) => f.write_str(why),
            Bound::Depth(most) => write!(f, "depth: {most} undecided branches on one path"),
            Bound::Diverged => f.write_str("diverged: inputs did not take the way they were made for"),
            Bound::Inputs(most) => write!(f, "paths: {most} inputs"),
            Bound::Late(what) => write!(f, "late: {what}"),
            Bound::Instructions(most) => write!(f, "stopped after {most} instructions"),
            Bound::Loops(most) => write!(f, "loops: {most} times through one branch"),
            Bound::Memory(most) => write!(f, "memory: {} MB", most >> 20),
            Bound::Paths(most) => write!(f, "paths: {most}"),
            Bound::Places(most) => write!(f, "more than {most} places, counted in each context"),
            Bound::Solver(reason) => write!(f, "solver: {reason}"),
            Bound::StandsIn(what) => write!(f, "stands-in: {what}"),
            Bound::States(most) => write!(f, "states: {most} at once"),
            Bound::Steps(most) => write!(f, "steps: a path of {most} instructions"),
            Bound::Time(most) => write!(f, "time: {} s", (most.as_secs_f64() * 1e3).round() / 1e3),
            Bound::Unsupported(what) => write!(f, "unsupported: {what}"),
            Bound::Unrolled(most, loop_) => write!(f, "unrolled {most} times at {loop_}"),
            Bound::Unvisited(count) => write!(f, "states: {count} were never visited"),
            Bound::Vacuous(what) => write!(f, "vacuous: no input of this run keeps what is assumed: {what}"),
            Bound::Values(most, what) => write!(f, "values: more than {most} {what}"),
        }
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
            self.leave_out(Bound::Candidates(most, what.into()));
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

/// How a solver's reason is written down: as its words, since some reasons carry text of the program itself.
mod reason {
    use super::Reason;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const NAMED: [Reason; 3] = [Reason::Time, Reason::Search, Reason::Size];

    pub fn serialize<S: Serializer>(reason: &Reason, to: S) -> Result<S::Ok, S::Error> {
        reason.to_string().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Reason, D::Error> {
        let words = String::deserialize(from)?;
        let named = NAMED.into_iter().find(|reason| reason.to_string() == words);
        let own = || words.strip_prefix("the solver gave up: ").unwrap_or(&words).to_string();
        Ok(named.unwrap_or_else(|| Reason::Incomplete(own())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(noted, [Bound::Candidates(3, "things".into())]);
    }
}
