//! What debug information says of a stopped program: functions, lines, frames, variables, types and values.
//!
//! [`Symbols`] holds the program and its shared objects at the addresses they are loaded at. A [`State`] gives registers and
//! memory of one moment: a recording at a time, a core file, a running process. From both come [`Frame`]s, variables in
//! scope, and the [`Value`]s of expressions such as `p->next->value`, printed as GDB prints them.
//!
//! Debug information is what somebody hands in: contradictions give an [`Error`], never a panic.
//!
//! Absent on purpose: files, processes, recordings. Bytes and closures are all that is read.

mod arithmetic;
mod compile;
mod debug;
mod elf;
mod error;
mod evaluate;
mod expression;
mod frame;
mod lines;
mod literal;
mod location;
mod print;
mod scope;
mod symbols;
mod types;
mod unwind;
mod value;

pub use compile::{Compiled, Scalar};
pub use elf::{Machine, Symbol};
pub use error::{Error, Result};
pub use frame::Frame;
pub use lines::Line;
pub use scope::{Role, Variable};
pub use symbols::{Inlined, Module, Symbols};
pub use types::{Field, Kind, Type};
pub use value::{Place, State, Value};
