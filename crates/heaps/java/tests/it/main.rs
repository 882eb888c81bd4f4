//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod beside;
mod common;
mod complete;
mod differential;
mod exactness;
mod malformed;
mod merge;
mod models;
mod subjects;
