//! `fleet`: many questions at once. The Python package `parallax.fleet` does it; this only starts it.

use super::script::{become_it, module};
use anyhow::{Context, Result};
use clap::Args;
use parallax_cli_base::exit::Status;
use std::ffi::OsString;

/// Check archives, triage reports, try schedules: many machines.
#[derive(Args)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
Examples:
  parallax fleet check sources/*.orig.tar.gz -o archive.run
  parallax fleet schedules --seeds 0:1000 -o race.run -- ./server
  parallax fleet --help")]
pub struct Fleet {
    /// What to do, and its options: `parallax fleet --help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Does it.
pub fn run(arguments: &Fleet) -> Result<Status> {
    let this = std::env::current_exe().context("the path of this command")?;
    // Workers on this machine run this very command.
    become_it(module("parallax.fleet")?.args(&arguments.arguments).env("PARALLAX", this))
}
