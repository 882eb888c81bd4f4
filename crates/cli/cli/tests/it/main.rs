//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod bad_input;
mod build;
mod c;
mod c_output;
mod changed;
mod check;
mod convert;
mod corpus;
mod docs;
mod doctor;
mod explore_program;
mod formulas;
mod front_doors;
mod heap;
mod help;
mod install;
mod java;
mod lsp;
mod machine;
mod mix;
mod origin;
mod recording;
mod safety;
mod worlds;
