//! Paths and the search for them, the same for every explorer: an explorer differs in its step only.
//!
//! A [`Path`] is a condition over terms that remembers models; an [`Oracle`] tells which of its sides are possible, by what
//! follows without a search where that is enough; a [`Frontier`] holds the states that wait and picks the next by a [`Strategy`]; a [`Bound`] says where a
//! search stopped short, and the [`Ledger`] of the run, in which every bound is noted, is what an answer's [`Completeness`] is made from.
//!
//! ```
//! use parallax_op::RelOp;
//! use parallax_path::{Oracle, Path, Split};
//! use parallax_term::Store;
//!
//! let store = Store::new();
//! let oracle = Oracle::new(Box::new(parallax_smt::Tier0::new(&store)));
//! let x = store.symbol("x", 32);
//! let below = |n| store.relop(RelOp::Ult, x, store.number(32, n));
//! let path: Path = Path::new(&oracle);
//! let (small, large) = path.fork(&oracle, below(10), ()).unwrap();
//! assert_eq!(small.unwrap().split(&oracle, below(20)), Ok(Split::True));
//! assert_eq!(large.unwrap().split(&oracle, below(20)), Ok(Split::Both));
//! ```

mod bound;
mod chain;
mod condition;
mod facts;
mod frontier;
mod ledger;
mod model;
mod oracle;
mod tree;

pub use bound::{Bound, Candidates};
pub use chain::Chain;
pub use condition::{Path, Split};
pub use frontier::{Frontier, Strategy};
pub use ledger::{Completeness, Entry, Ledger, Premise};
pub use model::Model;
pub use oracle::{Oracle, Recall};
