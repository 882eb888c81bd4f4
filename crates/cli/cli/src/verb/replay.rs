//! `replay`: runs a recording again.

use super::process::Engine;
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_record::{
    Archive, ReplayError, Replayed, Verdict, replay_family, replay_natively, replay_one, stream_order,
};
use std::path::PathBuf;

/// Replay a recording.
///
/// Example: `parallax replay --verify sorted.rec`. The program's output is written again, and that of its children; nothing else
/// outside is touched, and neither the programs nor their files need to be there any more.
#[derive(Args)]
pub struct Replay {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// Compare the state with checksums that were recorded along the way.
    #[arg(long)]
    verify: bool,
    /// Replay this process alone: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// What runs the program again: `native` is much faster, and compares the same checksums. The recording may come from a
    /// stranger, so the processor runs it in a process that has given up files, sockets and other processes.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
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
    let shows = !arguments.quiet && !arguments.json;
    let failed = |error| match error {
        ReplayError::Open(error) => anyhow::Error::from(error),
        ReplayError::Start(error) => super::process::start_error(error),
        error @ (ReplayError::NotNatively(_) | ReplayError::Lost(_)) => Failure {
            status: Status::GaveUp,
            message: format!("{error}\n  = `--engine exact` replays it instruction by instruction"),
        }
        .into(),
    };
    let stream = arguments.stream.as_deref();
    let mut all = Vec::new();
    let mut is_native = arguments.engine == Engine::Native;
    if is_native {
        match replay_natively(&archive, stream, arguments.verify, shows) {
            Ok(replayed) => all = replayed,
            Err(ReplayError::NotNatively(why)) => {
                eprintln!("parallax: --engine native cannot be had ({why}): the exact engine replays it");
                is_native = false;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    match stream {
        _ if is_native => all.sort_by_key(|one| stream_order(&one.stream)),
        Some(stream) => {
            all.push(replay_one(&archive, stream, arguments.verify, shows).map_err(failed)?);
        }
        None => {
            replay_family(&archive, arguments.verify, shows, |one| all.push(one)).map_err(failed)?;
            all.sort_by_key(|one| stream_order(&one.stream));
        }
    }
    let worst = all.iter().map(|one| one.verdict).max().unwrap_or(Verdict::Same);
    if arguments.json {
        let processes: Vec<_> = all.iter().map(document).collect();
        let mut whole = document(&all[0]);
        whole["status"] = word(worst).into();
        whole["verified"] = arguments.verify.into();
        whole["engine"] = if is_native { "native" } else { "exact" }.into();
        whole["processes"] = processes.into();
        println!("{whole:#}");
    }
    for one in all.iter().filter(|one| one.verdict == Verdict::Cut) {
        eprintln!("{}{}", name(one, all.len()), one.ending);
    }
    match worst {
        Verdict::Same => {
            if arguments.verify && !arguments.json {
                let steps: u64 = all.iter().map(|one| one.steps - one.since).sum();
                let processes =
                    if all.len() == 1 { String::new() } else { format!(" of {} processes", all.len()) };
                eprintln!("verified: {steps} steps{processes}, {}", all[0].ending);
            }
            Ok(Status::Clean)
        }
        Verdict::Cut => Ok(Status::GaveUp),
        Verdict::Departed => {
            let departed = all.iter().filter(|one| one.verdict == Verdict::Departed);
            let lines: Vec<String> = departed
                .map(|one| match &one.recorded {
                    Some(recorded) => format!("{}{}; recorded: {recorded}", name(one, all.len()), one.ending),
                    None => format!("{}{}", name(one, all.len()), one.ending),
                })
                .collect();
            Err(Failure { status: Status::Findings, message: lines.join("\n") }.into())
        }
    }
}

/// Which process is spoken of, where there are several.
fn name(one: &Replayed, count: usize) -> String {
    if count == 1 { String::new() } else { format!("process {}: ", one.stream) }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Cut => "cut",
        Verdict::Departed => "departed",
    }
}

fn document(one: &Replayed) -> serde_json::Value {
    serde_json::json!({
        "stream": one.stream,
        "status": word(one.verdict),
        "steps": one.steps,
        "ending": one.ending.to_string(),
    })
}
