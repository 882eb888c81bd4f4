//! `replay`: runs a recording again.

use crate::exit::{Failure, Status};
use anyhow::Result;
use clap::Args;
use parallax_process::Ending;
use parallax_record::{Archive, SavedEnding};
use std::path::PathBuf;

/// Replay a recording.
///
/// Example: `parallax replay --verify sorted.rec`. The program's output is written again; nothing else outside is touched,
/// and neither the program nor its files need to be there any more.
#[derive(Args)]
pub struct Replay {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// Compare the state with checksums that were recorded along the way.
    #[arg(long)]
    verify: bool,
    /// The process to replay: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// Do not write the program's output.
    #[arg(long)]
    quiet: bool,
    /// Print one JSON document in place of the program's output.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(arguments: &Replay) -> Result<Status> {
    let archive = Archive::open(&arguments.recording)?;
    let log = archive.log(&arguments.stream)?;
    let shows = !arguments.quiet && !arguments.json;
    let mut process =
        parallax_record::replay(&log, arguments.verify, shows).map_err(super::process::start_error)?;
    let ending = process.run();
    let recorded = log.ending();
    let same = recorded.as_ref() == Some(&SavedEnding::new(&ending));
    let cut = !log.complete && matches!(ending, Ending::Closed { .. }) && process.time() >= log.last();
    if arguments.json {
        let document = serde_json::json!({
            "status": if same { "same" } else if cut { "cut" } else { "departed" },
            "steps": process.time(),
            "ending": ending.to_string(),
            "verified": arguments.verify,
        });
        println!("{document:#}");
    }
    if same {
        if arguments.verify && !arguments.json {
            eprintln!("verified: {} steps, {ending}", process.time());
        }
        return Ok(Status::Clean);
    }
    if cut {
        eprintln!("{ending}");
        return Ok(Status::GaveUp);
    }
    let message = match recorded {
        Some(recorded) => format!("{ending}; recorded: {}", recorded.restore()),
        None => ending.to_string(),
    };
    Err(Failure { status: Status::Findings, message }.into())
}
