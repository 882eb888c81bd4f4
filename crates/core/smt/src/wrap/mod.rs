//! Wrappers: each changes how a solver is asked, none what the answer means. They stack.

mod cache;
mod count;

pub use cache::Cache;
pub use count::{Counter, Statistics};

/// The part of [`Solver`](crate::Solver) that wrappers hand on unchanged.
macro_rules! forward {
    ($inner:ident) => {
        fn store(&self) -> &'s parallax_term::Store {
            self.$inner.store()
        }
        fn set_limits(&mut self, limits: crate::Limits) {
            self.$inner.set_limits(limits)
        }
        fn limits(&self) -> crate::Limits {
            self.$inner.limits()
        }
        fn begin_at(&mut self, near: &crate::Model) {
            self.$inner.begin_at(near)
        }
    };
}
use forward;

/// A query as a set: in order, each formula once.
fn canonical(query: &[parallax_term::Formula]) -> Vec<parallax_term::Formula> {
    let mut set = query.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}
