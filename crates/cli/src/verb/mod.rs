//! The verbs, one module each.

mod convert;

use crate::exit::Status;
use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    Convert(convert::Convert),
}

/// Does it.
pub fn run(verb: Verb) -> Result<Status> {
    match verb {
        Verb::Convert(arguments) => convert::run(&arguments),
    }
}
