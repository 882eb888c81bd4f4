//! The meaning of operations, instructions and intrinsics, written once over [`parallax_sem::Core`].

mod bits;
mod exec;
mod float;
mod galois;
mod intrinsic;
mod pure;
mod rom;
mod state;
mod value;
mod vector;

pub use exec::{exec, exec_with};
pub use intrinsic::intrinsic;
pub use pure::evaluate;
pub use rom::Rom;
pub use state::{MEMORY, State};
pub use value::Value;

/// Why an instruction has no meaning here. What a program does wrong is not among these: that is a [`crate::Trap`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeaningError {
    /// An operation that the specification names and leaves without meaning.
    #[error("`{0}` has no meaning in its specification, nor in ours")]
    Unknown(String),
    /// Only the outside world knows.
    #[error("the result of `{0}` comes from outside the program")]
    Outside(&'static str),
    /// A temporary is read before it is written, or an operation has sizes that do not fit.
    #[error("ill-formed operation: {0}")]
    IllFormed(String),
    /// A loop inside one instruction whose end this reading cannot tell.
    #[error("a loop inside one instruction took more than {0} steps")]
    Loop(usize),
    /// A load of which this reading cannot tell whether, and where, it is from memory that never changes.
    #[error("{0}")]
    Load(String),
}
