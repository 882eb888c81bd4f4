//! C programs, run and explored.
//!
//! [`program`] gets a program from files, [`run`] executes it concretely, [`explore`] symbolically, and [`confirm`]
//! runs what exploring found. Each meets the machine of `parallax-cmachine` with a reading and a host of its own; the
//! machine knows none of them.

pub mod callers;
pub mod confirm;
pub mod driver;
pub mod explore;
pub mod ktest;
mod leak;
pub mod minimise;
pub mod names;
pub mod native;
pub mod place;
pub mod program;
pub mod project;
pub mod proposals;
pub mod run;
pub mod trace;

pub use parallax_cread::source_text;
pub use program::{Program, Project, Sources};
pub use project::Member;
