//! Guarded heaps: references, locations, guards, lazy initialisation (Hillery, Mercer, Rungta, Person).
//!
//! Knows no programming language: a [`Universe`] says what objects look like, a [`Guarded`] heap reads, writes and
//! compares, and the caller decides what a path is. Guards are formulas of the logic L, so that conditions on heap
//! shape and on bit-vectors mix freely.
//!
//! ```
//! use parallax_heap::{Class, ClassId, Field, FieldKind, Guarded, LeftOut, Options, Target, Universe, oracle};
//! use parallax_term::Store;
//! use std::rc::Rc;
//!
//! // Nodes with a field `next`; `this` is one of them, and nothing else is known.
//! let node = ClassId(0);
//! let next = Field { name: "next".into(), kind: FieldKind::Ref(node), acyclic: false };
//! let class =
//!     Class { name: "Node".into(), fields: vec![next], element: None, instances: vec![node], left_out: None };
//! let universe = Rc::new(Universe { classes: vec![class] });
//! let store = Store::new();
//! let options = Options { k: None, array: 0, draft: None };
//! let mut heap = Guarded::new(Rc::new(oracle(&store)), universe, options, LeftOut::default());
//! let this = heap.root(node, "this", true);
//! let this = heap.certainly(Target::Loc(this));
//! // Reading `this.next` makes no path fork: it is null, `this` itself, or a node not seen before, each under its guard.
//! heap.read(&this, 0)?;
//! assert_eq!(heap.models(100)?.models.len(), 3);
//! # Ok::<(), parallax_heap::HeapError>(())
//! ```

mod array;
pub mod choice;
mod condition;
mod count;
mod diagram;
mod draft;
pub mod draw;
mod eliminate;
mod guarded;
mod initialise;
mod input;
mod left_out;
mod merge;
mod nodes;
mod origin;
mod resolve;
mod selector;
pub mod set;
mod snapshot;
pub mod text;
mod universe;

pub use array::meant;
pub use count::Count;
pub use draft::Draft;
pub use guarded::{Cell, Entry, Guarded, Loc, Location, Options, Reference, Target};
pub use input::{InputHeap, InputObject, InputValue};
pub use left_out::{LeftOut, Sharing, elements, length_range, shared_inputs, start};
pub use origin::{Origin, Path, oracle, oracle_over};
pub use resolve::Models;
pub use selector::{Choice, Selector};
pub use snapshot::{Canon, Held, Object, Snapshot};
pub use universe::{Class, ClassId, Field, FieldKind, NewInputs, Universe};

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
