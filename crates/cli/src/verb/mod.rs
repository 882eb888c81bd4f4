//! The verbs, one module each.

use crate::exit::Status;
use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub enum Verb {}

/// Does it.
pub fn run(verb: Verb) -> Result<Status> {
    match verb {}
}
