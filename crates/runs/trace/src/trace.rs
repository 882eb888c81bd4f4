//! Traces: finite maps from times to values that are known as far as they were asked for.

use crate::error::{Error, Result};
use crate::lazy::{Deferred, Lazy};
use crate::memo::{Key, Memo, Rule, demand, query};
use crate::scan::Scan;
use crate::target::{Direction, INF, Time};
use crate::times::{DeadEnd, Filter, MOST_NESTED, Slice, Times, Union};
use crate::tree_scan::TreeScan;
use std::ops::Range;
use std::sync::Arc;

/// What may be a value in a trace.
pub trait Value: Clone + Send + Sync + 'static {}
impl<V: Clone + Send + Sync + 'static> Value for V {}

/// The values of a trace, by the times of its items.
pub(crate) trait Values<V>: Send + Sync {
    /// The value of the item at `time`, which must be one.
    fn value(&self, time: Time) -> Result<V>;
    /// Whether `value` would evaluate nothing and ask nothing.
    fn is_known(&self, time: Time) -> bool;
}

/// A value and when it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<V> {
    /// When.
    pub time: Time,
    /// The value.
    pub value: V,
}

/// A finite map from times to values, at most one per time, that is worked out as far as it is asked for.
///
/// Combinators build new traces and ask nothing. Queries search the target for exactly what their answer needs, in
/// either direction, and remember it. User functions get values, must be pure, and may run in any order.
pub struct Trace<V> {
    pub(crate) times: Arc<dyn Times>,
    pub(crate) values: Arc<dyn Values<V>>,
    /// How many combinators are stacked here.
    nesting: usize,
}

impl<V> Clone for Trace<V> {
    fn clone(&self) -> Self {
        Trace { times: self.times.clone(), values: self.values.clone(), nesting: self.nesting }
    }
}

/// Values that a function makes of the time alone.
struct ByTime<F>(F);

impl<V, F: Fn(Time) -> Result<V> + Send + Sync> Values<V> for ByTime<F> {
    fn value(&self, time: Time) -> Result<V> {
        (self.0)(time)
    }
    fn is_known(&self, _: Time) -> bool {
        true
    }
}

/// Values that a rule computes and a memo remembers.
pub(crate) struct Remembered<R: Rule> {
    pub rule: Arc<R>,
    pub memo: Arc<Memo<R::Value>>,
}

impl<R: Rule> Values<R::Value> for Remembered<R> {
    fn value(&self, time: Time) -> Result<R::Value> {
        demand(&self.rule, &self.memo, Key::at(time))
    }
    fn is_known(&self, time: Time) -> bool {
        self.memo.get(Key::at(time)).is_some()
    }
}

impl<V: Value> Trace<V> {
    pub(crate) fn from_source(
        times: Arc<dyn Times>,
        value: impl Fn(Time) -> Result<V> + Send + Sync + 'static,
    ) -> Self {
        Trace { times, values: Arc::new(ByTime(value)), nesting: 0 }
    }

    /// A trace on top of others, `nesting` being theirs. One that is stacked too high holds nothing and only fails.
    pub(crate) fn on(nesting: usize, times: Arc<dyn Times>, values: Arc<dyn Values<V>>) -> Self {
        let nesting = nesting + 1;
        if nesting > MOST_NESTED {
            let times = Arc::new(DeadEnd(times.budget()));
            return Trace { times, values: Arc::new(ByTime(|_| Err(Error::TooDeep))), nesting };
        }
        Trace { times, values, nesting }
    }

    /// The same times, with values by a rule.
    pub(crate) fn ruled<R: Rule>(&self, nesting: usize, rule: R) -> Trace<R::Value> {
        let memo = Memo::new(self.times.budget());
        Trace::on(nesting, self.times.clone(), Arc::new(Remembered { rule: Arc::new(rule), memo }))
    }

    pub(crate) fn nesting(&self) -> usize {
        self.nesting
    }

    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        if within.is_empty() { Ok(None) } else { query(|| self.times.find(within, direction)) }
    }

    fn item(&self, within: Range<Time>, direction: Direction) -> Result<Option<Item<V>>> {
        query(|| {
            let Some(time) = self.find(within, direction)? else { return Ok(None) };
            Ok(Some(Item { time, value: self.values.value(time)? }))
        })
    }

    /// The item at exactly this time.
    pub fn get_at(&self, time: Time) -> Result<Option<Item<V>>> {
        self.item(time..time.saturating_add(1), Direction::Forward)
    }

    /// The first item later than this time.
    pub fn get_after(&self, time: Time) -> Result<Option<Item<V>>> {
        self.item(time.saturating_add(1)..INF, Direction::Forward)
    }

    /// The last item earlier than this time.
    pub fn get_before(&self, time: Time) -> Result<Option<Item<V>>> {
        self.item(0..time, Direction::Backward)
    }

    /// The first item.
    pub fn first(&self) -> Result<Option<Item<V>>> {
        self.get_after(0)
    }

    /// The last item.
    pub fn last(&self) -> Result<Option<Item<V>>> {
        self.get_before(INF)
    }

    /// The first time later than `time`. Evaluates no values, only predicates of filters.
    pub fn time_after(&self, time: Time) -> Result<Option<Time>> {
        self.find(time.saturating_add(1)..INF, Direction::Forward)
    }

    /// How many items there are. Evaluates no values, only predicates of filters.
    pub fn len(&self) -> Result<usize> {
        query(|| {
            let mut count = 0;
            let mut last = 0;
            while let Some(time) = self.time_after(last)? {
                count += 1;
                last = time;
            }
            Ok(count)
        })
    }

    /// Whether there is no item: one search, where `len` would take all of them.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.time_after(0)?.is_none())
    }

    /// The items from early to late, each found when it is asked for.
    pub fn iter(&self) -> Iter<V> {
        Iter { trace: self.clone(), cursor: 0, direction: Direction::Forward, failed: false }
    }

    /// The items from late to early, each found when it is asked for.
    pub fn reversed(&self) -> Iter<V> {
        Iter { trace: self.clone(), cursor: INF, direction: Direction::Backward, failed: false }
    }

    /// The items whose values satisfy a predicate. It runs once per item; where it fails, nothing is decided.
    pub fn filter(&self, predicate: impl Fn(V) -> Result<bool> + Send + Sync + 'static) -> Trace<V> {
        let times = Filter::new(self.times.clone(), self.values.clone(), Box::new(predicate));
        Trace::on(self.nesting, Arc::new(times), self.values.clone())
    }

    /// The same times with other values. The function runs once per item, when the value is asked for.
    pub fn map<W: Value>(&self, f: impl Fn(V) -> Result<W> + Send + Sync + 'static) -> Trace<W> {
        self.ruled(self.nesting, Map { values: self.values.clone(), f: Box::new(f) })
    }

    /// The items with `from <= time < to`. Nothing outside is ever asked.
    pub fn slice(&self, from: Time, to: Time) -> Trace<V> {
        let times = Slice { of: self.times.clone(), to: from..to };
        Trace::on(self.nesting, Arc::new(times), self.values.clone())
    }

    /// The items of both traces. At equal times `f` combines the two values; without it that is
    /// [`Error::Coincidence`], and the rest of the trace stays usable.
    pub fn merge<F: Fn(V, V) -> Result<V> + Send + Sync + 'static>(
        &self,
        f: Option<F>,
        other: &Trace<V>,
    ) -> Trace<V> {
        let times = Arc::new(Union::new(self.times.clone(), other.times.clone(), f.is_none()));
        let rule = Arc::new(Merge {
            left: self.clone(),
            right: other.clone(),
            f: f.map(|f| Box::new(f) as Combine<V>),
        });
        let memo = Memo::new(times.budget());
        Trace::on(self.nesting.max(other.nesting), times, Arc::new(Merged(Remembered { rule, memo })))
    }

    /// The items of this trace, each combined with the latest item of the other that is *earlier*. The other is
    /// searched only if `f` forces it.
    pub fn trailing_merge<W: Value, R: Value>(
        &self,
        f: impl Fn(V, Lazy<Option<W>>) -> Result<R> + Send + Sync + 'static,
        other: &Trace<W>,
    ) -> Trace<R> {
        self.beside(Box::new(f), other, Direction::Backward)
    }

    /// The items of this trace, each combined with the earliest item of the other that is *later*.
    pub fn rev_trailing_merge<W: Value, R: Value>(
        &self,
        f: impl Fn(V, Lazy<Option<W>>) -> Result<R> + Send + Sync + 'static,
        other: &Trace<W>,
    ) -> Trace<R> {
        self.beside(Box::new(f), other, Direction::Forward)
    }

    fn beside<W: Value, R: Value>(
        &self,
        f: WithLazy<V, W, R>,
        other: &Trace<W>,
        direction: Direction,
    ) -> Trace<R> {
        let nesting = self.nesting.max(other.nesting);
        self.ruled(nesting, Beside { values: self.values.clone(), other: other.clone(), direction, f })
    }

    /// At each item `f` of the output before it and the value: `out = f(out before, v)`, starting from `start`.
    /// Earlier outputs are computed only as far as `f` forces them.
    pub fn scan<R: Value>(
        &self,
        f: impl Fn(Lazy<R>, V) -> Result<R> + Send + Sync + 'static,
        start: R,
    ) -> Trace<R> {
        self.ruled(self.nesting, Scan::new(self, Box::new(f), start, Direction::Backward))
    }

    /// The same from late to early: `out = f(out after, v)`.
    pub fn rev_scan<R: Value>(
        &self,
        f: impl Fn(Lazy<R>, V) -> Result<R> + Send + Sync + 'static,
        start: R,
    ) -> Trace<R> {
        self.ruled(self.nesting, Scan::new(self, Box::new(f), start, Direction::Forward))
    }

    /// At each item the values up to and including it, combined by an associative function in the shape of a balanced
    /// tree. Both arguments are lazy; the left one may turn out to be none, which `f` must treat as its identity.
    pub fn tscan(
        &self,
        f: impl Fn(Lazy<Option<V>>, Lazy<Option<V>>) -> Result<V> + Send + Sync + 'static,
    ) -> Trace<V> {
        TreeScan::trace(self, Box::new(f), Direction::Backward)
    }

    /// At each item the values from it to the end, combined by an associative function; here the right argument may
    /// turn out to be none.
    pub fn rev_tscan(
        &self,
        f: impl Fn(Lazy<Option<V>>, Lazy<Option<V>>) -> Result<V> + Send + Sync + 'static,
    ) -> Trace<V> {
        TreeScan::trace(self, Box::new(f), Direction::Forward)
    }
}

/// Items one by one. Ends at the first error.
pub struct Iter<V> {
    trace: Trace<V>,
    cursor: Time,
    direction: Direction,
    failed: bool,
}

impl<V: Value> Iterator for Iter<V> {
    type Item = Result<Item<V>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = match self.direction {
            Direction::Forward => self.trace.get_after(self.cursor),
            Direction::Backward => self.trace.get_before(self.cursor),
        };
        match &item {
            Ok(Some(item)) => self.cursor = item.time,
            Ok(None) => {}
            Err(_) => self.failed = true,
        }
        item.transpose()
    }
}

/// `map`.
struct Map<V, W> {
    values: Arc<dyn Values<V>>,
    f: Box<dyn Fn(V) -> Result<W> + Send + Sync>,
}

impl<V: Value, W: Value> Rule for Map<V, W> {
    type Value = W;
    fn compute(this: &Arc<Self>, _: &Arc<Memo<W>>, key: Key) -> Result<W> {
        (this.f)(this.values.value(key.at)?)
    }
}

type Combine<V> = Box<dyn Fn(V, V) -> Result<V> + Send + Sync>;

/// `merge`, at times that both traces have.
struct Merge<V> {
    left: Trace<V>,
    right: Trace<V>,
    f: Option<Combine<V>>,
}

impl<V: Value> Rule for Merge<V> {
    type Value = V;
    fn compute(this: &Arc<Self>, _: &Arc<Memo<V>>, key: Key) -> Result<V> {
        let f = this.f.as_ref().ok_or(Error::Coincidence(key.at))?;
        f(this.left.values.value(key.at)?, this.right.values.value(key.at)?)
    }
}

/// The values of `merge`: only those that were combined are remembered here.
struct Merged<V: Value>(Remembered<Merge<V>>);

impl<V: Value> Values<V> for Merged<V> {
    fn value(&self, time: Time) -> Result<V> {
        let Merge { left, right, .. } = &*self.0.rule;
        let here = time..time + 1;
        let in_left = left.times.find(here.clone(), Direction::Forward)?.is_some();
        let in_right = right.times.find(here, Direction::Forward)?.is_some();
        match (in_left, in_right) {
            (true, true) => self.0.value(time),
            (true, false) => left.values.value(time),
            _ => right.values.value(time),
        }
    }

    fn is_known(&self, time: Time) -> bool {
        let Merge { left, right, .. } = &*self.0.rule;
        let here = time..time + 1;
        match (
            left.times.known(here.clone(), Direction::Forward),
            right.times.known(here, Direction::Forward),
        ) {
            (Some(Some(_)), Some(Some(_))) => self.0.is_known(time),
            (Some(Some(_)), Some(None)) => left.values.is_known(time),
            (Some(None), Some(Some(_))) => right.values.is_known(time),
            _ => false,
        }
    }
}

type WithLazy<V, W, R> = Box<dyn Fn(V, Lazy<Option<W>>) -> Result<R> + Send + Sync>;

/// `trailing_merge` and `rev_trailing_merge`.
struct Beside<V, W, R> {
    values: Arc<dyn Values<V>>,
    other: Trace<W>,
    /// Where the other trace's item is looked for.
    direction: Direction,
    f: WithLazy<V, W, R>,
}

impl<V: Value, W: Value, R: Value> Rule for Beside<V, W, R> {
    type Value = R;
    fn compute(this: &Arc<Self>, _: &Arc<Memo<R>>, key: Key) -> Result<R> {
        let value = this.values.value(key.at)?;
        let within = beyond(key.at, this.direction);
        let near = Nearest { trace: this.other.clone(), within, direction: this.direction };
        (this.f)(value, Lazy::new(near))
    }
}

/// What lies strictly before or after an instant.
pub(crate) fn beyond(time: Time, direction: Direction) -> Range<Time> {
    match direction {
        Direction::Forward => time.saturating_add(1)..INF,
        Direction::Backward => 0..time,
    }
}

/// The nearest item of a trace within an interval, when it is asked for.
struct Nearest<W> {
    trace: Trace<W>,
    within: Range<Time>,
    direction: Direction,
}

impl<W: Value> Deferred<Option<W>> for Nearest<W> {
    fn force(&self) -> Result<Option<W>> {
        self.time()?.map(|time| self.trace.values.value(time)).transpose()
    }

    fn is_forced(&self) -> bool {
        match self.trace.times.known(self.within.clone(), self.direction) {
            Some(Some(time)) => self.trace.values.is_known(time),
            Some(None) => true,
            None => false,
        }
    }

    fn time(&self) -> Result<Option<Time>> {
        self.trace.find(self.within.clone(), self.direction)
    }
}
