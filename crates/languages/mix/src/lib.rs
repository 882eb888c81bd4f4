//! MIX: one language, two analyses, and the two rules that join them.
//!
//! After Khoo, Chang and Foster, *Mixing Type Checking and Symbolic Execution*. A program marks which parts are
//! type checked (`{t e t}`) and which are symbolically executed (`{s e s}`). The interpreter ([`interp`], Figure 5),
//! the type checker ([`types`], Figure 6) and the symbolic executor ([`symbolic`], Figures 2 and 3) know nothing of each
//! other; the mix rules ([`mix`], Figure 4) are all that joins them.
//!
//! Integers are 64-bit two's complement everywhere and wrap, so that the solver's answers are exact.

mod arithmetic;
pub mod complaint;
mod exhaustive;
pub mod free;
mod infer;
pub mod interp;
mod lexer;
pub mod mix;
pub mod path_report;
mod reader;
mod scope;
pub mod symbolic;
pub mod syntax;
pub mod ty;
pub mod types;
pub mod world;

pub use reader::{MAX_DEPTH, read};
