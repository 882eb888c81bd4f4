//! The verbs, one module each.

mod convert;
mod mix;

use crate::exit::Status;
use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    Convert(convert::Convert),
    Mix(mix::Mix),
}

/// Does it.
pub fn run(verb: Verb) -> Result<Status> {
    match verb {
        Verb::Convert(arguments) => convert::run(&arguments),
        Verb::Mix(arguments) => mix::run(&arguments),
    }
}
