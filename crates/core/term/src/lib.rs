//! The logic L: quantifier-free bit-vectors with finite functions (Lim, Lal, Reps, section 3.1).
//!
//! Invariants: within one [`Store`], equal expressions have equal ids, and ids never cross stores. The smart
//! constructors (one module per family: `boolean`, `arith`, `division`, `slice`, `relation`, `range`, `map`, `floats`) are the only door
//! into a store, and they simplify. No function here recurses on the depth of an expression, and nothing here talks
//! to a solver or evaluates under an interpretation: that is `sem`'s reading of the same operators.
//!
//! A *term* is a bit-vector, a *formula* a truth value, a *function expression* a map from bit-vectors to bit-vectors.
//! A [`StructUpdate`] describes a change of state: what each constant and function symbol becomes.
//!
//! ```
//! use parallax_term::Store;
//!
//! let store = Store::new();
//! let (x, memory) = (store.symbol("x", 32), store.func_symbol("F", 32, 32));
//! // A read sees the last write to its key, and looks past writes to other keys.
//! let written = store.update(memory, x, store.number(32, 7));
//! let written = store.update(written, store.add(x, store.number(32, 1)), store.number(32, 8));
//! assert_eq!(store.access(written, x), store.number(32, 7));
//! // Equal expressions are one.
//! assert_eq!(store.sub(store.add(x, x), x), x);
//! assert_eq!(store.display(store.ne(x, store.number(32, 5))), "x != 5");
//! ```

mod apart;
mod arith;
mod boolean;
mod compared;
mod division;
mod floats;
mod map;
mod node;
mod parse;
mod print;
mod range;
mod relation;
mod slice;
mod smt2;
mod span;
mod store;
mod update;

pub use node::{Expr, Formula, FuncExpr, Id, Node, Sort, Term};
pub use parse::{parse_formula, parse_term, parse_update};
pub use smt2::Script;
pub use span::{Ranges, Span};
pub use store::{Statistics, Store, Symbol, SymbolInfo, SymbolKind};
pub use update::{Scalar, StructUpdate};
