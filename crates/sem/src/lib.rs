//! The semantic core and its readings.
//!
//! A subject language writes its meaning once, as functions over [`Core`]; each reading implements [`Core`] once. The
//! two never name each other and first meet in an analysis, so N languages and M readings cost N + M. The logic L is
//! one of those languages: its meaning functions are in [`logic`], and re-reading them over terms is substitution.

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
mod taint;

pub use crate::core::{ByteOrder, Core};
pub use abstraction::{Abstract, AbstractMap, BigKey, Domain, Truth, Value};
pub use concrete::{Concrete, Table};
pub use condition::Condition;
pub use interval::Interval;
pub use language::{ConstantTables, Language, Places, Procedures, Stuck, Successors};
pub use pair::Pair;
pub use sign::Sign;
pub use symbolic::Symbolic;
pub use taint::Taint;
