//! What the path conditions of heaps are made of.

use parallax_path::{Oracle, Recall};
use parallax_smt::{Limits, Tiered};
use parallax_term::{Formula, Store};
use std::time::Duration;

/// Where a conjunct of a path condition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An outcome of the program.
    Outcome,
    /// What a selector may choose, or a range of an input: holds of every input within the bounds.
    Input,
    /// What paths that were merged have in place of outcomes and inputs of their own.
    Merged,
}

/// A path condition of a heap.
pub type Path = parallax_path::Path<Formula, Origin>;

/// What one question may take. Generous, because a busy machine must not turn answers into failures; runs have limits
/// of their own.
const PATIENCE: Duration = Duration::from_secs(120);

/// The oracle that suits heaps: keys of data structures are compared, and seldom computed with; guards share most of
/// their parts, and most that are asked about hold in a model that a path knows.
pub fn oracle(store: &Store) -> Oracle<'_> {
    oracle_over(Tiered::by_order(store))
}

/// The same over a solver that was made elsewhere.
pub fn oracle_over<'s>(solver: Tiered<'s>) -> Oracle<'s> {
    Oracle::new(Box::new(solver))
        .with_limits(Limits { time: Some(PATIENCE), ..Limits::default() })
        .with_recall(Recall { models: 8, values: true, facts: true })
}
