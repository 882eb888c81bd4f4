//! A target made of lists of times: for tests, for logs, and for trying scripts without a recording.

use crate::target::{Direction, Found, Hit, Target, Time, Watch};
use std::collections::BTreeMap;
use std::ops::Range;

/// Named lists of times. The state at a time is the time itself.
#[derive(Clone, Debug)]
pub struct List {
    lists: BTreeMap<String, Vec<Time>>,
    span: Range<Time>,
}

/// Why a list has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A condition names no list.
    #[error("there is no list called {0}")]
    Unknown(String),
    /// A list holds a time that is not in the span.
    #[error("time {time} of {list} is not in [{start}, {end})", start = span.start, end = span.end)]
    Outside {
        /// The list.
        list: String,
        /// The time.
        time: Time,
        /// Where it should be.
        span: Range<Time>,
    },
}

impl List {
    /// A target without lists. The span starts at 1 or later.
    pub fn new(span: Range<Time>) -> Self {
        let start = span.start.max(1);
        List { lists: BTreeMap::new(), span: start..span.end.max(start) }
    }

    /// The target with one more list. The times may come in any order.
    pub fn with(mut self, name: &str, times: impl IntoIterator<Item = Time>) -> Result<Self, ListError> {
        let mut times: Vec<Time> = times.into_iter().collect();
        times.sort_unstable();
        times.dedup();
        if let Some(&time) = times.iter().find(|time| !self.span.contains(time)) {
            return Err(ListError::Outside { list: name.to_owned(), time, span: self.span });
        }
        self.lists.insert(name.to_owned(), times);
        Ok(self)
    }

    /// The names of the lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.lists.keys().map(String::as_str)
    }
}

/// The times of a sorted list inside a range.
fn inside<'a>(times: &'a [Time], within: &Range<Time>) -> &'a [Time] {
    let from = times.partition_point(|&t| t < within.start);
    let to = times.partition_point(|&t| t < within.end);
    &times[from..to.max(from)]
}

impl Target for List {
    type Condition = String;
    type State = Time;
    type Error = ListError;

    fn span(&self) -> Range<Time> {
        self.span.clone()
    }

    fn finished(&self) -> bool {
        true
    }

    fn state(&self, time: Time) -> Result<Time, ListError> {
        Ok(time.clamp(self.span.start, self.span.end))
    }

    fn search(
        &self,
        conditions: &[String],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        _watch: &dyn Watch,
    ) -> Result<Found, ListError> {
        let mut lists = Vec::with_capacity(conditions.len());
        for name in conditions {
            let times = self.lists.get(name).ok_or_else(|| ListError::Unknown(name.clone()))?;
            lists.push(inside(times, &within));
        }
        let mut hits = Vec::new();
        // Each round takes the nearest time off all lists that begin (or end) with it.
        while hits.len() < max {
            let heads = lists.iter().filter_map(|list| match direction {
                Direction::Forward => list.first().copied(),
                Direction::Backward => list.last().copied(),
            });
            let nearest = match direction {
                Direction::Forward => heads.min(),
                Direction::Backward => heads.max(),
            };
            let Some(time) = nearest else { return Ok(Found { hits, decided: within }) };
            let mut which = 0;
            for (index, list) in lists.iter_mut().enumerate() {
                *list = match (direction, *list) {
                    (Direction::Forward, [first, rest @ ..]) if *first == time => rest,
                    (Direction::Backward, [rest @ .., last]) if *last == time => rest,
                    _ => continue,
                };
                which |= 1 << index;
            }
            hits.push(Hit { time, which });
        }
        let decided = match (direction, hits.last()) {
            (Direction::Forward, Some(last)) => within.start..last.time + 1,
            (Direction::Backward, Some(last)) => last.time..within.end,
            (Direction::Forward, None) => within.start..within.start,
            (Direction::Backward, None) => within.end..within.end,
        };
        Ok(Found { hits, decided })
    }
}
