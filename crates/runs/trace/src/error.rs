//! Why a query has no answer.

use crate::target::Time;
use std::sync::Arc;

/// An error of a user function or of a target, shared because one failure may reach several callers.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a query has no answer. What it had decided before stays decided; errors are never remembered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The target could not answer.
    #[error("{0}")]
    Target(Cause),
    /// A user function failed.
    #[error("{0}")]
    User(Cause),
    /// The watch stopped a search.
    #[error("interrupted")]
    Interrupted,
    /// Two traces merged without a function both have an item at this time.
    #[error("both merged traces have an item at time {0}; merge them with a function that combines the two")]
    Coincidence(Time),
    /// The value at this time needs itself.
    #[error("the value at time {0} needs itself")]
    SelfDependence(Time),
    /// A user function caught and dropped the signal that ends a call in a deep chain.
    #[error("a function caught the signal by which a deep chain is evaluated; let BaseException pass")]
    Swallowed,
    /// Combinators stacked too high to be evaluated on any stack.
    #[error("the trace is built from more than {MOST} combinators stacked on each other", MOST = crate::times::MOST_NESTED)]
    TooDeep,
    /// The target broke its contract.
    #[error("the target broke its contract: {0}")]
    Contract(&'static str),
    /// Not for users: something else must be evaluated first. User functions pass it on unchanged.
    #[error("evaluation is deferred")]
    Deferred,
}

impl Error {
    /// An error of a user function.
    pub fn user(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error::User(Arc::new(error))
    }
}

/// What queries return.
pub type Result<T> = std::result::Result<T, Error>;
