//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod agreement;
mod circuits;
mod common;
mod exhaustive;
mod floats;
mod limits;
mod order;
mod satisfies;
mod transcript;
mod wrappers;
