//! Values that are computed when they are asked for.

use crate::error::Result;
use crate::memo::query;
use crate::target::Time;
use std::sync::Arc;

/// How a lazy value comes about.
pub(crate) trait Deferred<V>: Send + Sync {
    fn force(&self) -> Result<V>;
    /// Whether `force` would evaluate nothing and ask nothing.
    fn is_forced(&self) -> bool;
    /// The time of the item whose value this is; none if there is no such item.
    fn time(&self) -> Result<Option<Time>>;
}

/// A value that is computed when it is asked for: the accumulator of a scan, the earlier item of a trailing merge.
/// It may be kept, and forced after the call that received it.
pub struct Lazy<V>(Arc<dyn Deferred<V>>);

impl<V> Clone for Lazy<V> {
    fn clone(&self) -> Self {
        Lazy(self.0.clone())
    }
}

impl<V> Lazy<V> {
    pub(crate) fn new(deferred: impl Deferred<V> + 'static) -> Self {
        Lazy(Arc::new(deferred))
    }

    /// The value.
    pub fn force(&self) -> Result<V> {
        query(|| self.0.force())
    }

    /// Whether [`Lazy::force`] would evaluate nothing and ask nothing, whoever computed the value.
    pub fn is_forced(&self) -> bool {
        self.0.is_forced()
    }

    /// The time of the item whose value this is; none if there is no such item, as before the first.
    pub fn time(&self) -> Result<Option<Time>> {
        query(|| self.0.time())
    }
}
