//! Repository checks (`cargo xtask check`), the tests side by side (`cargo xtask test`) and recorded benchmark runs (`cargo xtask bench`).

mod arrows;
mod bench;
mod check;
mod circles;
mod dependencies;
mod features;
mod pages;
mod task;
mod test;

use anyhow::{Result, bail};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a backtrace: what failed stands in the last lines, which is all that some CI services show.
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    match arguments.first().map(String::as_str) {
        Some("check") => check::run(),
        Some("test") => test::run(&arguments[1..]),
        Some("fuzz") => task::run("fuzz", task::FUZZ, &arguments[1..]),
        Some("peers") => task::run("peers", task::PEERS, &arguments[1..]),
        Some("bench") => bench::run(&arguments[1..]),
        _ => bail!(
            "usage: cargo xtask check | test [crate...] | fuzz [name...] | peers [name...] | bench [name...]"
        ),
    }
}
