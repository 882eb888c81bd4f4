//! Guarded heaps: references, locations, guards, lazy initialisation (Hillery, Mercer, Rungta, Person).
//!
//! Knows no programming language: a [`Universe`] says what objects look like, a [`Guarded`] heap reads, writes and
//! compares, and the caller decides what a path is. Guards are formulas of the logic L, so that conditions on heap
//! shape and on bit-vectors mix freely.

pub mod choice;
mod count;
mod diagram;
mod draft;
pub mod draw;
mod guarded;
mod input;
mod merge;
mod origin;
mod resolve;
mod selector;
pub mod set;
mod snapshot;
pub mod text;
mod universe;

pub use count::Count;
pub use draft::Draft;
pub use guarded::{Cell, Entry, Guarded, Loc, Location, Options, Reference, Target};
pub use input::{InputHeap, InputObject, InputValue};
pub use origin::{Origin, Path, oracle};
pub use resolve::Models;
pub use selector::{Choice, Selector};
pub use snapshot::{Canon, Held, Object, Snapshot};
pub use universe::{Class, ClassId, Field, FieldKind, Universe};

/// Why a heap operation has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeapError {
    /// The solver gave up.
    #[error("the solver gave up: {0}")]
    Solver(parallax_smt::Reason),
    /// The deadline is past.
    #[error("the time limit was reached")]
    Late,
    /// An invariant does not hold: a fault of ours.
    #[error("internal: {0}")]
    Broken(&'static str),
}

impl From<parallax_smt::Reason> for HeapError {
    fn from(reason: parallax_smt::Reason) -> Self {
        match reason {
            parallax_smt::Reason::Time => HeapError::Late,
            other => HeapError::Solver(other),
        }
    }
}
