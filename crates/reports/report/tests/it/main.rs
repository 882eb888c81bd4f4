//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod generate;
mod hostile;
mod odd;
mod recorded;
mod round_trip;
mod samples;
mod sarif;
mod sarif_constructs;
mod strange;
mod tools;
mod whole_log;
