//! The times of a trace, apart from its values: what `filter`, `slice` and `merge` make of the times below them.

use crate::error::{Error, Result};
use crate::intervals::{Intervals, arrived, before, between, ends, nearer, past};
use crate::memo::{Budget, Key, Memo, Rule, demand, provisional};
use crate::target::{Direction, Time};
use crate::trace::Values;
use crate::world::{self, Leaf};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Combinators that may be stacked on each other: an evaluation takes stack for each.
pub(crate) const MOST_NESTED: usize = 1000;

/// A lazily known set of times.
pub(crate) trait Times: Send + Sync {
    /// The nearest time within an interval: the first forward, the last backward.
    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>>;
    /// The same, if it takes no search and no user function.
    fn known(&self, within: Range<Time>, direction: Direction) -> Option<Option<Time>>;
    /// Nothing at or above this is decided: the end of a target that still runs.
    fn limit(&self) -> Time;
    /// The sources these times are the union of, each clipped; false if they are not a union of sources.
    fn leaves(&self, clip: Range<Time>, leaves: &mut Vec<Leaf>) -> bool;
    /// Fails if `time`, which is in here, should not be: see [`Error::Coincidence`].
    fn admit(&self, _time: Time) -> Result<()> {
        Ok(())
    }
    fn budget(&self) -> Arc<Budget>;
}

/// The part of an interval that lies inside another.
fn clip(within: Range<Time>, to: &Range<Time>) -> Range<Time> {
    within.start.max(to.start)..within.end.min(to.end)
}

/// The times inside an interval.
pub(crate) struct Slice {
    pub of: Arc<dyn Times>,
    pub to: Range<Time>,
}

impl Times for Slice {
    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        let within = clip(within, &self.to);
        if within.is_empty() { Ok(None) } else { self.of.find(within, direction) }
    }

    fn known(&self, within: Range<Time>, direction: Direction) -> Option<Option<Time>> {
        let within = clip(within, &self.to);
        if within.is_empty() { Some(None) } else { self.of.known(within, direction) }
    }

    fn limit(&self) -> Time {
        self.of.limit()
    }

    fn leaves(&self, within: Range<Time>, leaves: &mut Vec<Leaf>) -> bool {
        self.of.leaves(clip(within, &self.to), leaves)
    }

    fn admit(&self, time: Time) -> Result<()> {
        self.of.admit(time)
    }

    fn budget(&self) -> Arc<Budget> {
        self.of.budget()
    }
}

/// Says which values are wanted.
pub(crate) type Predicate<V> = Box<dyn Fn(V) -> Result<bool> + Send + Sync>;

/// Whether the value at a time is wanted.
struct Verdict<V> {
    values: Arc<dyn Values<V>>,
    predicate: Predicate<V>,
}

impl<V: Send + Sync + 'static> Rule for Verdict<V> {
    type Value = bool;
    fn compute(this: &Arc<Self>, _: &Arc<Memo<bool>>, key: Key) -> Result<bool> {
        (this.predicate)(this.values.value(key.at)?)
    }
}

/// The times whose values a predicate wants: a tree of its own.
pub(crate) struct Filter<V> {
    of: Arc<dyn Times>,
    rule: Arc<Verdict<V>>,
    /// Verdicts under way, and those that an end may still change; the others are in the tree.
    verdicts: Arc<Memo<bool>>,
    tree: Mutex<Intervals>,
}

impl<V: Send + Sync + 'static> Filter<V> {
    pub fn new(of: Arc<dyn Times>, values: Arc<dyn Values<V>>, predicate: Predicate<V>) -> Self {
        let verdicts = Memo::new(of.budget());
        let rule = Arc::new(Verdict { values, predicate });
        Filter { of, rule, verdicts, tree: Mutex::default() }
    }

    fn decide(&self, range: Range<Time>, item: Option<Time>) {
        self.tree.lock().unwrap().decide(range, item);
    }
}

impl<V: Send + Sync + 'static> Times for Filter<V> {
    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        let (mut p, far) = ends(&within, direction);
        while !arrived(p, far, direction) {
            let stretch = self.tree.lock().unwrap().stretch(p, direction);
            let end = nearer(stretch.end, far, direction);
            if stretch.known {
                match stretch.item {
                    Some(item) if !arrived(before(item, direction), end, direction) => return Ok(Some(item)),
                    _ => p = end,
                }
                continue;
            }
            // Taken before the search: what grows meanwhile stays unknown. Instants above it are looked at apart, since
            // an answer about them holds only for now.
            let limit = self.of.limit();
            let is_above = between(p, end, direction).start >= limit;
            let end =
                if is_above || arrived(p, limit, direction) { end } else { nearer(end, limit, direction) };
            let (found, unsettled) = provisional(|| self.of.find(between(p, end, direction), direction));
            let found = found?;
            let seen = between(p, found.map_or(end, |time| before(time, direction)), direction);
            if !unsettled {
                self.decide(clip(seen, &(0..limit)), None);
            }
            let Some(time) = found else {
                p = end;
                continue;
            };
            let (wanted, open) = provisional(|| demand(&self.rule, &self.verdicts, Key::at(time)));
            let wanted = wanted?;
            if !open && !unsettled {
                self.decide(time..time + 1, wanted.then_some(time));
                self.verdicts.forget(Key::at(time));
            }
            if wanted {
                return Ok(Some(time));
            }
            p = past(time, direction);
        }
        Ok(None)
    }

    fn known(&self, within: Range<Time>, direction: Direction) -> Option<Option<Time>> {
        let (mut p, far) = ends(&within, direction);
        while !arrived(p, far, direction) {
            let stretch = self.tree.lock().unwrap().stretch(p, direction);
            let end = nearer(stretch.end, far, direction);
            if stretch.known {
                match stretch.item {
                    Some(item) if !arrived(before(item, direction), end, direction) => {
                        return Some(Some(item));
                    }
                    _ => p = end,
                }
            } else {
                // Nothing below: nothing here either. Something below: the predicate would have to run.
                match self.of.known(between(p, end, direction), direction)? {
                    None => p = end,
                    Some(time) => match self.verdicts.get(Key::at(time))? {
                        true => return Some(Some(time)),
                        false => p = past(time, direction),
                    },
                }
            }
        }
        Some(None)
    }

    fn limit(&self) -> Time {
        self.of.limit()
    }

    fn leaves(&self, _: Range<Time>, _: &mut Vec<Leaf>) -> bool {
        false
    }

    fn budget(&self) -> Arc<Budget> {
        self.of.budget()
    }
}

/// The times of two traces.
pub(crate) struct Union {
    left: Arc<dyn Times>,
    right: Arc<dyn Times>,
    /// The sources, if they can be searched together.
    joint: Option<Vec<Leaf>>,
    /// Whether a time in both is an error.
    exclusive: bool,
}

impl Union {
    pub fn new(left: Arc<dyn Times>, right: Arc<dyn Times>, exclusive: bool) -> Self {
        let mut leaves = Vec::new();
        let all = 0..Time::MAX;
        let joint = left.leaves(all.clone(), &mut leaves)
            && right.leaves(all, &mut leaves)
            && world::joinable(&leaves);
        Union { left, right, joint: joint.then_some(leaves), exclusive }
    }

    /// The left side's answer, then the right side's up to it.
    fn left_first(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        let Some(left) = self.left.find(within.clone(), direction)? else {
            return self.right.find(within, direction);
        };
        let near = ends(&within, direction).0;
        match self.right.find(between(near, past(left, direction), direction), direction)? {
            Some(right) if right == left && self.exclusive => Err(Error::Coincidence(left)),
            right => Ok(Some(right.map_or(left, |right| nearer(left, right, direction)))),
        }
    }
}

impl Times for Union {
    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        let Some(leaves) = &self.joint else { return self.left_first(within, direction) };
        let found = world::find(leaves, within, direction)?;
        if let Some(time) = found {
            self.admit(time)?;
        }
        Ok(found)
    }

    fn known(&self, within: Range<Time>, direction: Direction) -> Option<Option<Time>> {
        let left = self.left.known(within.clone(), direction)?;
        let near = ends(&within, direction).0;
        let within = match left {
            Some(time) => between(near, past(time, direction), direction),
            None => within,
        };
        let right = self.right.known(within, direction)?;
        Some(match (left, right) {
            (Some(left), Some(right)) => Some(nearer(left, right, direction)),
            (left, right) => left.or(right),
        })
    }

    fn limit(&self) -> Time {
        self.left.limit().min(self.right.limit())
    }

    fn leaves(&self, within: Range<Time>, leaves: &mut Vec<Leaf>) -> bool {
        self.left.leaves(within.clone(), leaves) && self.right.leaves(within, leaves)
    }

    fn admit(&self, time: Time) -> Result<()> {
        let here = time..time + 1;
        let seen = |side: &Arc<dyn Times>| side.known(here.clone(), Direction::Forward) == Some(Some(time));
        let (left, right) = (seen(&self.left), seen(&self.right));
        if self.exclusive && left && right {
            return Err(Error::Coincidence(time));
        }
        if left {
            self.left.admit(time)?;
        }
        if right { self.right.admit(time) } else { Ok(()) }
    }

    fn budget(&self) -> Arc<Budget> {
        self.left.budget()
    }
}

/// Too many combinators: every query fails, and nothing below is held.
pub(crate) struct DeadEnd(pub Arc<Budget>);

impl Times for DeadEnd {
    fn find(&self, _: Range<Time>, _: Direction) -> Result<Option<Time>> {
        Err(Error::TooDeep)
    }

    fn known(&self, _: Range<Time>, _: Direction) -> Option<Option<Time>> {
        None
    }

    fn limit(&self) -> Time {
        0
    }

    fn leaves(&self, _: Range<Time>, _: &mut Vec<Leaf>) -> bool {
        false
    }

    fn budget(&self) -> Arc<Budget> {
        self.0.clone()
    }
}
