//! Which instants are decided, and which of them are items: the lazy interval tree.
//!
//! Every instant is unknown, empty or an item. Decided stretches are kept merged, so that a query costs a look-up per
//! stretch whatever the order of earlier queries was.
//!
//! A *cursor* stands between two instants. Going forward from cursor `p` the next instant is `p`, going backward it is
//! `p - 1`; so one description serves both directions.

use crate::target::{Direction, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The stretch next to a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Whether its instants are decided; otherwise none of them is.
    pub known: bool,
    /// The nearest item in it.
    pub item: Option<Time>,
    /// The cursor at its far end.
    pub end: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Intervals {
    /// Decided stretches by their lower ends, disjoint and not touching.
    decided: BTreeMap<Time, Time>,
    items: BTreeSet<Time>,
}

impl Intervals {
    /// What lies next to cursor `p`.
    pub fn stretch(&self, p: Time, direction: Direction) -> Stretch {
        match direction {
            Direction::Forward => match self.decided.range(..=p).next_back() {
                Some((_, &end)) if p < end => {
                    Stretch { known: true, item: self.items.range(p..end).next().copied(), end }
                }
                _ => {
                    let end = self.decided.range(p..).next().map_or(Time::MAX, |(&lo, _)| lo);
                    Stretch { known: false, item: None, end }
                }
            },
            Direction::Backward => match self.decided.range(..p).next_back() {
                Some((&start, &end)) if p <= end => {
                    Stretch { known: true, item: self.items.range(start..p).next_back().copied(), end: start }
                }
                below => Stretch { known: false, item: None, end: below.map_or(0, |(_, &end)| end) },
            },
        }
    }

    /// Marks the instants of `range` as decided, with these items among them.
    pub fn decide(&mut self, range: Range<Time>, items: impl IntoIterator<Item = Time>) {
        if range.is_empty() {
            return;
        }
        self.items.extend(items);
        let mut lo = range.start;
        let mut hi = range.end;
        if let Some((&start, &end)) = self.decided.range(..=lo).next_back()
            && end >= lo
        {
            lo = start;
            hi = hi.max(end);
        }
        while let Some((&start, &end)) = self.decided.range(lo..=hi).next() {
            self.decided.remove(&start);
            hi = hi.max(end);
        }
        self.decided.insert(lo, hi);
    }
}

/// Whether cursor `p` has arrived at or gone past `far`.
pub(crate) fn arrived(p: Time, far: Time, direction: Direction) -> bool {
    match direction {
        Direction::Forward => p >= far,
        Direction::Backward => p <= far,
    }
}

/// Of two cursors or instants the one met first.
pub(crate) fn nearer(a: Time, b: Time, direction: Direction) -> Time {
    match direction {
        Direction::Forward => a.min(b),
        Direction::Backward => a.max(b),
    }
}

/// The cursor just behind instant `t`.
pub(crate) fn past(t: Time, direction: Direction) -> Time {
    match direction {
        Direction::Forward => t + 1,
        Direction::Backward => t,
    }
}

/// The cursor just before instant `t`.
pub(crate) fn before(t: Time, direction: Direction) -> Time {
    match direction {
        Direction::Forward => t,
        Direction::Backward => t + 1,
    }
}

/// The near and the far cursor of an interval.
pub(crate) fn ends(within: &Range<Time>, direction: Direction) -> (Time, Time) {
    match direction {
        Direction::Forward => (within.start, within.end),
        Direction::Backward => (within.end, within.start),
    }
}

/// The interval between a near and a far cursor.
pub(crate) fn between(near: Time, far: Time, direction: Direction) -> Range<Time> {
    match direction {
        Direction::Forward => near..far,
        Direction::Backward => far..near,
    }
}
