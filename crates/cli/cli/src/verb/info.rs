//! `info`: what a recording holds. `pack`: makes it one file.

use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_process::elf::Machine;
use parallax_record::{Archive, Summary};
use std::path::PathBuf;

/// Say what a recording holds.
///
/// Example: `parallax info sorted.rec` prints the processes, their times, threads, modules and system calls.
#[derive(Args)]
pub struct Info {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Pack a recording into one file, which opens as it is.
///
/// Example: `parallax pack sorted.rec sorted.plx`, then `parallax replay sorted.plx`.
#[derive(Args)]
pub struct Pack {
    /// The recording: a folder.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The file to write.
    #[arg(value_name = "FILE")]
    target: PathBuf,
}

/// Packs.
pub fn pack(arguments: &Pack) -> Result<Status> {
    let bytes = Archive::open(&arguments.recording)?.pack(&arguments.target)?;
    println!("{}: {bytes} bytes", arguments.target.display());
    Ok(Status::Clean)
}

/// Says it.
pub fn run(arguments: &Info) -> Result<Status> {
    let summaries = Archive::open(&arguments.recording)?.summaries()?;
    if arguments.json {
        let streams: Vec<serde_json::Value> = summaries.iter().map(json).collect();
        println!("{:#}", serde_json::json!({ "streams": streams }));
    } else {
        summaries.iter().for_each(print);
    }
    Ok(Status::Clean)
}

/// The system calls of a stream by name, the most frequent first.
fn calls(summary: &Summary) -> Vec<(String, u64)> {
    let machine = if summary.machine == Machine::PowerPc.name() { Machine::PowerPc } else { Machine::X86_64 };
    let name = |number: u64| {
        parallax_process::system::call_name(machine, number).map_or_else(|| number.to_string(), str::to_owned)
    };
    let mut calls: Vec<_> = summary.calls.iter().map(|(number, count)| (name(*number), *count)).collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), name.clone()));
    calls
}

/// Bytes of the stream per million steps.
fn per_million(summary: &Summary) -> f64 {
    let first = summary.header.parent.as_ref().map_or(0, |(_, time)| *time);
    summary.bytes as f64 * 1e6 / (summary.last - first).max(1) as f64
}

fn text(arguments: &[serde_bytes::ByteBuf]) -> Vec<String> {
    arguments.iter().map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

fn ending(summary: &Summary) -> String {
    summary.ending.as_ref().map_or(String::from("cut"), |ending| ending.restore().to_string())
}

/// What ran it, and how much was left to the exact engine.
fn engine(summary: &Summary) -> String {
    match summary.native {
        None => String::from("exact"),
        Some((_, 0)) => String::from("native"),
        Some((steps, of)) => {
            let left = of.saturating_sub(steps) as f64 * 100.0 / of as f64;
            format!("native, {left:.2} % of the steps by the exact one")
        }
    }
}

fn json(summary: &Summary) -> serde_json::Value {
    let calls: serde_json::Map<_, _> =
        calls(summary).into_iter().map(|(name, count)| (name, count.into())).collect();
    serde_json::json!({
        "stream": summary.name,
        "command": text(&summary.header.arguments),
        "parent": summary.header.parent,
        "time": [summary.header.parent.as_ref().map_or(1, |(_, time)| time + 1), summary.last + 1],
        "ending": ending(summary),
        "threads": summary.threads,
        "modules": summary.modules.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "calls": calls,
        "signals": summary.signals,
        "engine": engine(summary),
        "bytes": summary.bytes,
        "bytes per million steps": per_million(summary),
        "children": summary.children,
    })
}

fn print(summary: &Summary) {
    let first = summary.header.parent.as_ref().map_or(1, |(_, time)| time + 1);
    println!("stream {}: {}", summary.name, text(&summary.header.arguments).join(" "));
    if let Some((parent, time)) = &summary.header.parent {
        println!("  forked from {parent} at {time}");
    }
    println!("  times {first} to {}, {}", summary.last + 1, ending(summary));
    println!("  {} bytes, {:.0} per million steps", summary.bytes, per_million(summary));
    println!("  engine: {}", engine(summary));
    println!("  {} threads, {} signals", summary.threads.len().max(1), summary.signals);
    for (name, length) in &summary.modules {
        println!("  maps {name} ({length} bytes)");
    }
    let list: Vec<String> =
        calls(summary).into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    println!("  calls: {}", list.join(", "));
}
