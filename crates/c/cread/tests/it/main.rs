//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod declared;
mod layout;
mod uses;
