//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod encodings;
mod ports;
mod powerpc;
mod silicon;
