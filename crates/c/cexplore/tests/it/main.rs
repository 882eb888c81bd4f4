//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod bounds;
mod checks;
mod completeness;
mod concrete;
mod consistency;
mod corpus;
mod coverage;
mod drivers;
mod findings;
mod globals;
mod hostile_modules;
mod large_arrays;
mod left_out;
mod library;
mod memory_rules;
mod merging;
mod native_signals;
mod nearest;
mod parsers;
mod random_functions;
mod random_memory;
mod relied;
mod strategies;
mod unknown_memory;
