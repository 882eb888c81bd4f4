//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod corpus;
mod inputs;
mod paths;
mod precision;
mod reading;
mod soundness;
mod support;
