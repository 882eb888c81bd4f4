//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod addresses;
mod composition;
mod consistency;
