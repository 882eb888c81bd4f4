//! The verbs about formulas: what a program means, written once over [`subject::Subject`].
//!
//! They stand apart from the rest of the command because the meanings of all languages are instantiated here for every
//! reading, which takes the compiler longer than all other verbs together.

pub mod along;
pub mod at;
pub mod compose;
pub mod concrete;
pub mod eval;
pub mod lift;
mod operation;
pub mod path;
pub mod ranges;
pub mod signs;
pub mod solve;
pub mod states;
pub mod subject;
mod values;
pub mod wlp;
