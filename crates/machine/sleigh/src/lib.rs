//! Machine code to [`parallax_ir`], from SLEIGH specifications and, where those are wrong or silent, our own tables.
//!
//! [`Lifter`] is the entry point. The C++ library that reads the specifications crashes on some bytes, so it lives in a
//! process of its own ([`worker`]); nothing outside this crate sees it. What comes back is P-code ([`pcode`]), which is
//! converted at once ([`convert`]). For the x86 family an override table ([`x86`]) is asked first, and
//! short ones for the others.

mod aarch64;
mod arm;
mod channel;
mod compile;
mod condition;
mod convert;
mod ieee;
mod lanes;
mod language;
mod library;
mod lifter;
mod mips;
mod noted;
mod pcode;
mod powerpc;
mod refused;
mod riscv;
mod sla;
mod worker;
pub mod x86;
mod zero;

pub use compile::{CompileError, compile};
pub use language::{LANGUAGES, Language, Specification};
pub use lifter::{LiftError, Lifter};
