//! The semantic core and its readings.
//!
//! A subject language writes its meaning once, as functions over [`Core`]; each reading implements [`Core`] once. The
//! two never name each other and first meet in an analysis, so N languages and M readings cost N + M. The logic L is
//! one of those languages: its meaning functions are in [`logic`], and re-reading them over terms is substitution.
//!
//! ```
//! use parallax_op::{BinOp, Bits, RelOp};
//! use parallax_sem::{Concrete, Core, Symbolic};
//! use parallax_term::Store;
//!
//! /// The meaning of `x < 0 ? -x : x`, written once.
//! fn magnitude<C: Core>(core: &C, x: &C::Val) -> C::Val {
//!     let zero = core.constant(&Bits::zero(32));
//!     let negative = core.relop(RelOp::Slt, 32, x, &zero);
//!     core.cond(32, &negative, &core.binop(BinOp::Sub, 32, &zero, x), x)
//! }
//!
//! // Read over numbers it runs, read over terms it is a formula.
//! let minus_three = Bits::from_i128(32, -3);
//! assert_eq!(magnitude(&Concrete, &minus_three), Bits::new(32, 3));
//! let store = Store::new();
//! let x = store.symbol("x", 32);
//! assert_eq!(store.display(magnitude(&Symbolic::new(&store), &x)), "ite(x < 0, -x, x)");
//! ```

mod abstraction;
mod concrete;
mod condition;
mod core;
mod interval;
mod language;
pub mod logic;
mod pair;
mod sign;
mod symbolic;

pub use crate::core::{ByteOrder, Core};
pub use abstraction::{Abstract, AbstractMap, BigKey, Domain, Truth, Value};
pub use concrete::{Concrete, Table};
pub use condition::Condition;
pub use interval::Interval;
pub use language::{ConstantTables, Language, Origin, Places, Procedures, Stuck, Successors};
pub use pair::Pair;
pub use sign::Sign;
pub use symbolic::Symbolic;
