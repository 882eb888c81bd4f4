//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod common;
mod conduct;
mod counts;
mod edit;
mod models;
