//! C programs through clang's LLVM IR.
//!
//! [`clang`] turns C files into bitcode, [`read`] turns bitcode into a [`Module`] of our own, and [`machine`] gives
//! modules a meaning over the semantic core: once, for every reading. The C library is a set of models in C
//! (`models/`), compiled when this crate is built and linked to every program, whose own definitions win.

pub mod annotations;
pub mod clang;
mod error;
mod float_text;
pub mod foreign;
pub mod machine;
pub mod module;
mod reader;

pub use error::Error;
pub use module::Module;
pub use reader::{Input, read};

/// Bitcode of the library models.
pub const MODELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models.bc"));

/// Files of the library models are named with this prefix in debug information.
pub const LIBRARY_PREFIX: &str = "<libc>/";
