//! Machine code as a subject language.
//!
//! A [`Program`] is some code of some processor: bytes from the command line, or a function or range of an ELF file.
//! Its meaning is that of the lifted instructions over the semantic core, so everything that works on a
//! [`Language`](parallax_sem::Language) works on it: execution, symbolic evaluation, weakest liberal precondition,
//! composition, path constraints, abstract interpretation. For a specification of the user's own this is the paper's
//! "Yacc-like tool": the meaning of an instruction set goes in, the primitives come out.
//!
//! Execution ends where control leaves the bytes or the range that were given. A function of a file may use everything the
//! file contains, and ends where it returns to its caller: control that leaves the file for anywhere else is lost.

mod convention;
mod elf;
mod image;
mod language;
mod layout;
mod misplaced;
mod program;
mod relocate;
mod state;

pub use elf::{ElfError, Selection, language_of, load};
pub use image::{Image, Segment};
pub use misplaced::Misplaced;
pub use program::{Program, ProgramError, SharedLifter};
pub use state::{Halt, MachineState, StateError};
