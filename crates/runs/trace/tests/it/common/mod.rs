//! A list target that writes down every search it is asked.

#![allow(dead_code)]

use parallax_trace::{Direction, Found, List, ListError, Options, Target, Time, Trace, Watch, World};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Searches as text: `<[1,50)=40` is a backward search of foo that found 40; other kinds and joint ones are named.
pub struct Logged {
    list: List,
    pub log: Mutex<Vec<String>>,
    /// Instants searched, as `(kinds, decided)`.
    pub covered: Mutex<Vec<(Vec<String>, Range<Time>)>>,
    pub finished: AtomicBool,
    /// The end so far, for a target that grows.
    pub end: AtomicU64,
    /// A search that decides more than so many instants stops early if its watch says so.
    pub patience: AtomicU64,
}

impl Target for Logged {
    type Condition = String;
    type State = Time;
    type Error = ListError;

    fn span(&self) -> Range<Time> {
        self.list.span().start..self.end.load(SeqCst)
    }

    fn finished(&self) -> bool {
        self.finished.load(SeqCst)
    }

    fn state(&self, time: Time) -> Result<Time, ListError> {
        self.list.state(time)
    }

    fn search(
        &self,
        conditions: &[String],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found, ListError> {
        assert!(!within.is_empty() && within.start >= 1 && within.end <= self.span().end, "{within:?}");
        let patience = self.patience.load(SeqCst);
        let mut asked = within.clone();
        if asked.end - asked.start > patience && watch.stop() {
            match direction {
                Direction::Forward => asked.end = asked.start + patience,
                Direction::Backward => asked.start = asked.end - patience,
            }
        }
        let found = self.list.search(conditions, asked, direction, max, watch)?;
        let arrow = if direction == Direction::Forward { '>' } else { '<' };
        let kinds = if conditions == ["foo"] { String::new() } else { conditions.join("+") };
        let hits: Vec<String> = found.hits.iter().map(|hit| format!("={}", hit.time)).collect();
        self.log.lock().unwrap().push(format!(
            "{kinds}{arrow}[{},{}){}",
            within.start,
            within.end,
            hits.concat()
        ));
        self.covered.lock().unwrap().push((conditions.to_vec(), found.decided.clone()));
        Ok(found)
    }
}

pub struct Fixture {
    pub world: World<Logged>,
}

/// foo at 10 20 30 40 50, bar at 15 25 30 45, in [1, 101).
pub fn fresh() -> Fixture {
    fixture(Options::plain())
}

pub fn fixture(options: Options) -> Fixture {
    Fixture::of(101, &[("foo", &[10, 20, 30, 40, 50]), ("bar", &[15, 25, 30, 45])], options)
}

impl Fixture {
    pub fn of(end: Time, lists: &[(&str, &[Time])], options: Options) -> Self {
        Self::watched(end, lists, options, parallax_trace::Unwatched)
    }

    pub fn watched(
        end: Time,
        lists: &[(&str, &[Time])],
        options: Options,
        watch: impl Watch + Send + Sync + 'static,
    ) -> Self {
        let mut list = List::new(1..end);
        for (name, times) in lists {
            list = list.with(name, times.iter().copied()).unwrap();
        }
        let target = Logged {
            list,
            log: Mutex::default(),
            covered: Mutex::default(),
            finished: AtomicBool::new(true),
            end: AtomicU64::new(end),
            patience: AtomicU64::new(u64::MAX),
        };
        Fixture { world: World::watched(Arc::new(target), options, watch) }
    }

    /// The trace of a list, with the times as values.
    pub fn list(&self, name: &str) -> Trace<i64> {
        self.world.trace(name.to_owned(), |time| Ok(time as i64))
    }

    pub fn foo(&self) -> Trace<i64> {
        self.list("foo")
    }

    pub fn bar(&self) -> Trace<i64> {
        self.list("bar")
    }

    /// The searches since the last call.
    pub fn searches(&self) -> String {
        std::mem::take(&mut *self.world.target().log.lock().unwrap()).join(" ")
    }

    /// How many searches there were since the last call.
    pub fn count(&self) -> usize {
        std::mem::take(&mut *self.world.target().log.lock().unwrap()).len()
    }

    /// Instants decided since the last call, over all kinds of a search at once.
    pub fn instants(&self) -> u64 {
        let covered = std::mem::take(&mut *self.world.target().covered.lock().unwrap());
        covered.iter().map(|(_, range)| range.end - range.start).sum()
    }

    /// Whether some instant was searched twice for one kind.
    pub fn searched_twice(&self) -> bool {
        let covered = self.world.target().covered.lock().unwrap();
        let mut ranges: Vec<(&String, &Range<Time>)> = covered
            .iter()
            .filter(|(_, range)| !range.is_empty())
            .flat_map(|(kinds, range)| kinds.iter().map(move |kind| (kind, range)))
            .collect();
        ranges.sort_by_key(|(kind, range)| ((*kind).clone(), range.start));
        ranges.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1.end > pair[1].1.start)
    }
}

/// Counts calls.
#[derive(Clone, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    pub fn hit(&self) {
        self.0.fetch_add(1, SeqCst);
    }
    pub fn calls(&self) -> u64 {
        self.0.load(SeqCst)
    }
}
