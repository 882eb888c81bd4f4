//! `scan` and `rev_scan`: each output from the one before it, as far as it is forced.

use crate::error::Result;
use crate::lazy::{Deferred, Lazy};
use crate::memo::{Key, Memo, Rule, demand};
use crate::target::{Direction, Time};
use crate::trace::{Trace, Value, beyond};
use std::sync::{Arc, OnceLock, Weak};

type Step<V, R> = Box<dyn Fn(Lazy<R>, V) -> Result<R> + Send + Sync>;

/// The definition of a scan.
pub(crate) struct Scan<V, R> {
    of: Trace<V>,
    f: Step<V, R>,
    start: R,
    /// Where the output before lies: backward for `scan`, forward for `rev_scan`.
    direction: Direction,
}

impl<V: Value, R: Value> Scan<V, R> {
    pub fn new(of: &Trace<V>, f: Step<V, R>, start: R, direction: Direction) -> Self {
        Scan { of: of.clone(), f, start, direction }
    }
}

impl<V: Value, R: Value> Rule for Scan<V, R> {
    type Value = R;
    fn compute(this: &Arc<Self>, memo: &Arc<Memo<R>>, key: Key) -> Result<R> {
        let value = this.of.values.value(key.at)?;
        let accumulator = Accumulator { scan: this.clone(), memo: Home::new(memo), at: key.at };
        (this.f)(Lazy::new(accumulator), value)
    }
}

/// A memo, referred to weakly: its values may hold the lazies that refer to it. A lazy that outlives the trace gets a
/// memo of its own, which its further values share.
pub(crate) struct Home<V> {
    memo: Weak<Memo<V>>,
    own: OnceLock<Arc<Memo<V>>>,
    budget: Arc<crate::memo::Budget>,
}

impl<V: Value> Home<V> {
    pub fn new(memo: &Arc<Memo<V>>) -> Self {
        Home { memo: Arc::downgrade(memo), own: OnceLock::new(), budget: memo.budget().clone() }
    }

    pub fn get(&self) -> Arc<Memo<V>> {
        self.memo.upgrade().unwrap_or_else(|| self.own.get_or_init(|| Memo::new(self.budget.clone())).clone())
    }
}

/// The output before a time.
struct Accumulator<V, R> {
    scan: Arc<Scan<V, R>>,
    memo: Home<R>,
    at: Time,
}

impl<V: Value, R: Value> Deferred<R> for Accumulator<V, R> {
    fn force(&self) -> Result<R> {
        match self.time()? {
            Some(time) => demand(&self.scan, &self.memo.get(), Key::at(time)),
            None => Ok(self.scan.start.clone()),
        }
    }

    fn is_forced(&self) -> bool {
        let direction = self.scan.direction;
        match self.scan.of.times.known(beyond(self.at, direction), direction) {
            Some(Some(time)) => self.memo.get().get(Key::at(time)).is_some(),
            Some(None) => true,
            None => false,
        }
    }

    fn time(&self) -> Result<Option<Time>> {
        let direction = self.scan.direction;
        self.scan.of.times.find(beyond(self.at, direction), direction)
    }
}
