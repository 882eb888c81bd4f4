//! MIX: one language, two analyses, and the two rules that join them.
//!
//! After Khoo, Chang and Foster, *Mixing Type Checking and Symbolic Execution*. A program marks which parts are
//! type checked (`{t e t}`) and which are symbolically executed (`{s e s}`). The interpreter ([`interp`], Figure 5)
//! and the type checker ([`types`], Figure 6) know nothing of each other.
//!
//! Integers are 64-bit two's complement everywhere and wrap, so that the solver's answers are exact.

pub mod interp;
mod lexer;
mod reader;
mod scope;
pub mod syntax;
pub mod ty;

pub use reader::{MAX_DEPTH, read};
