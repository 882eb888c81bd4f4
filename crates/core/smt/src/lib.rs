//! Whether formulas of the logic L hold together, and under which interpretation.
//!
//! A [`Solver`] answers [`Answer::Sat`] with a [`Model`], [`Answer::Unsat`], or [`Answer::Unknown`] with a [`Reason`];
//! every model is re-evaluated by the concrete reading of the logic before anybody sees it. Backends are [`Tier0`], a
//! bit-blaster of our own for small queries, and [`Z3`]; [`Tiered`] asks one, then the other. Wrappers stack on top of any solver, one concern each.
//!
//! ```
//! use parallax_op::BinOp;
//! use parallax_smt::{Answer, Session, Solver, Tier0};
//! use parallax_term::Store;
//!
//! let store = Store::new();
//! let (x, y) = (store.symbol("x", 32), store.symbol("y", 32));
//! let mut session = Session::new(Tier0::new(&store));
//! session.assert(store.eq(store.binop(BinOp::Mul, x, y), store.number(32, 391)));
//! let small = store.all([x, y].map(|v| store.relop(parallax_op::RelOp::Ult, v, store.number(32, 100))));
//! let large = store.all([x, y].map(|v| store.relop(parallax_op::RelOp::Ult, store.number(32, 1), v)));
//! let Answer::Sat(model) = session.check(&[small, large]) else { panic!("391 = 17 * 23") };
//! assert_eq!(model.term(&store, store.binop(BinOp::Mul, x, y)).to_u64(), Some(391));
//! ```

mod address;
mod answer;
mod model;
mod question;
mod refine;
mod session;
mod solver;
mod tier0;
mod tiered;
mod wrap;
mod z3;

pub use answer::{Answer, Limits, Reason};
pub use model::Model;
pub use question::{Enumeration, Stop, enumerate, implied, is_valid, smallest, values};
pub use session::Session;
pub use solver::Solver;
pub use tier0::{Step, Tier0, Transcript};
pub use tiered::Tiered;
pub use wrap::{Cache, Counter, Statistics};
pub use z3::Z3;

/// The solver to use when nothing speaks for another.
pub fn solver<'s>(store: &'s parallax_term::Store) -> Box<dyn Solver<'s> + 's> {
    Box::new(Tiered::new(store))
}
