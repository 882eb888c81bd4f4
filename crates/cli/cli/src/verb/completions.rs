//! `parallax completions` and `parallax manual`: what shells and `man` know, from the definitions that read arguments.

use crate::Arguments;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use parallax_cli_base::exit::Status;
use std::path::PathBuf;

/// Print what a shell needs to complete verbs and options.
#[derive(Args)]
#[command(
    after_help = "Example:\n  parallax completions bash > ~/.local/share/bash-completion/completions/parallax"
)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

/// Write manual pages: one for the command, and one for each verb.
#[derive(Args)]
#[command(after_help = "Example:\n  parallax manual man1 && man man1/parallax-explore.1")]
pub struct Manual {
    /// The folder to write them into; it is made if it is missing.
    folder: PathBuf,
}

/// Prints the completions.
pub fn run(arguments: &Completions) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "parallax", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Status::Clean)
}

/// Writes the manual pages.
pub fn manual(arguments: &Manual) -> Result<Status> {
    let folder = &arguments.folder;
    let place = || folder.display().to_string();
    std::fs::create_dir_all(folder).with_context(place)?;
    clap_mangen::generate_to(Arguments::command(), folder).with_context(place)?;
    Ok(Status::Clean)
}
