//! What can be searched for.

use std::collections::BTreeSet;
use std::ops::Range;

/// A set of addresses. Equal sets are equal, however they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// All addresses in these ranges.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut all: Vec<Range<u64>> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(all.len());
        for range in all {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Ranges(joined)
    }

    /// Every address but the last.
    pub fn all() -> Self {
        Ranges(vec![Range { start: 0, end: u64::MAX }])
    }

    /// The ranges, in order; they do not touch.
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Whether an address is among them.
    pub fn holds(&self, address: u64) -> bool {
        self.meets(address..address.saturating_add(1))
    }

    /// Whether one of the addresses in a range is among them.
    pub fn meets(&self, range: Range<u64>) -> bool {
        let from = self.0.partition_point(|own| own.end <= range.start);
        self.0.get(from).is_some_and(|own| own.start < range.end)
    }
}

impl From<Range<u64>> for Ranges {
    fn from(range: Range<u64>) -> Self {
        Ranges::new(std::iter::once(range))
    }
}

impl From<u64> for Ranges {
    fn from(address: u64) -> Self {
        Ranges::new(std::iter::once(address..address.saturating_add(1)))
    }
}

/// A set of numbers: of system calls, of signals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// All of them.
    All,
    /// These.
    Of(BTreeSet<u64>),
}

impl Numbers {
    /// Whether a number is among them.
    pub fn holds(&self, number: u64) -> bool {
        match self {
            Numbers::All => true,
            Numbers::Of(set) => set.contains(&number),
        }
    }
}

impl From<u64> for Numbers {
    fn from(number: u64) -> Self {
        Numbers::Of(BTreeSet::from([number]))
    }
}

/// A condition on a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// It executes an instruction at one of these addresses. A function is entered, whether it was called directly or
    /// by way of a linkage table, when its first instruction executes.
    Execute(Ranges),
    /// Its instruction reads one of these bytes. What the kernel reads for a system call is not recorded.
    Read(Ranges),
    /// It writes one of these bytes: its instruction, its system call, the frame of a signal handler; or it is the first to
    /// see what another process has written there.
    Write(Ranges),
    /// It is a call instruction that goes to one of these addresses; [`Ranges::all`] is any call.
    Call(Ranges),
    /// It is a return instruction.
    Return,
    /// It is a system call of one of these numbers. A call that had to wait is the step at which it is done.
    SystemCall(Numbers),
    /// It is the delivery of one of these signals: its handler is entered.
    Signal(Numbers),
    /// This holds, and the state passes a test. Not to be used inside of [`Filter::Any`], where the test is not made.
    When(Box<Filter>, crate::examine::Test),
    /// One of these holds.
    Any(Vec<Filter>),
}

impl Filter {
    /// The simple conditions of which one has to hold.
    pub(crate) fn parts(&self) -> Vec<&Filter> {
        match self {
            Filter::Any(all) => all.iter().flat_map(Filter::parts).collect(),
            Filter::When(plain, _) => plain.parts(),
            simple => vec![simple],
        }
    }

    /// The addresses of which every step that it holds at executes one; none if there are such steps that do not.
    pub fn executed(&self) -> Option<&Ranges> {
        match self {
            Filter::Execute(ranges) => Some(ranges),
            Filter::When(plain, _) => plain.executed(),
            _ => None,
        }
    }

    /// Whether the notes on an interval answer it, so that nothing has to run.
    pub(crate) fn is_noted(&self) -> bool {
        self.parts().iter().all(|part| matches!(part, Filter::SystemCall(_) | Filter::Signal(_)))
    }
}
