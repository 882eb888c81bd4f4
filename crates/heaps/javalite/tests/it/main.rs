//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod common;
mod complete;
mod concrete;
mod conditions;
mod deep;
mod drafts;
mod equivalent;
mod errata;
mod exactness;
mod merge;
mod oracle;
mod subjects;
