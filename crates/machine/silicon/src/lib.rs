//! Differential tests of instruction semantics against real processors.
//!
//! [`forms`] lists instruction forms, each a way to encode one instruction with random operands; [`machine`] runs an
//! instruction on the processor under us, in a traced process that is single-stepped; [`compare`] runs it through our
//! own semantics, in the concrete and in the symbolic reading, and holds the results against each other. Flags that the
//! processor manual leaves undefined are left out, by the table in `parallax-sleigh`.
//!
//! Absent on purpose: any meaning of instructions. A form knows how to be encoded, nothing else.

pub mod compare;
pub mod forms;
pub mod machine;
pub mod ports;
pub mod powerpc;
pub mod random;

pub use compare::{Comparison, Mismatch, Report, run};
