//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod assembled;
mod cuts;
mod lockstep;
mod snapshot;
