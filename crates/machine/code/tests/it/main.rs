//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod branches;
mod calls;
mod compiled;
mod composition;
mod control_flow;
mod faults;
mod misplaced;
mod paper;
mod random;
mod tables;
mod wlp;
