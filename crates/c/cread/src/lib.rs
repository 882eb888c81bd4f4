//! C files to modules: everything that runs clang or talks to LLVM, and all the `unsafe` that this takes.
//!
//! [`clang`] turns C files into bitcode, [`foreign`] makes other people's bitcode safe to read, [`read`] turns bitcode
//! into a [`Module`](parallax_cmodule::Module), and [`annotations`] adds what clang drops on the way; [`Kept`] keeps what
//! clang made for the next run, and [`build`] asks a project's own build system which files there are. The C library is
//! a set of models in C (`models/`), compiled when this crate is built and linked to every program, whose own
//! definitions win.

pub mod annotations;
pub mod build;
pub mod clang;
mod error;
pub mod foreign;
mod keep;
mod named;
mod reader;
mod tool;

pub use error::Error;
pub use keep::{Counts, Kept, Sum};
pub use named::{source_bytes, source_text};
pub use reader::{Input, Symbols, read, symbols};

/// Bitcode of the library models.
pub const MODELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models.bc"));
