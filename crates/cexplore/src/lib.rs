//! C programs, run and explored.
//!
//! [`program`] gets a program from files, [`run`] executes it concretely. Both meet the machine of `parallax-llvm` with
//! a reading and a host of their own; the machine knows neither.

mod leak;
pub mod program;
pub mod run;

pub use program::{Program, Sources};
