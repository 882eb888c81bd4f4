//! `find`: the steps of a recording at which conditions hold.

use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::progress;
use parallax_moment::{Modules, functions_named};
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Numbers, Ranges, Travel};
use std::io::Write;
use std::path::PathBuf;

/// Find the steps of a recording at which something happens.
///
/// Example: `parallax find sorted.rec --system-call write` lists the writes; `parallax find sorted.rec --write 0x4c5310:8 --backward
/// --max 1` finds the last step that wrote there. Addresses are hexadecimal, with or without `0x`. Several conditions may be
/// given; a step is shown if one of them holds.
#[derive(Args)]
pub struct Find {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The process: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// Instructions at this address, or in so many bytes from it on.
    #[arg(long, value_name = "ADDRESS[:LENGTH]", value_parser = ranges)]
    execute: Vec<Ranges>,
    /// Entries of the functions of this name; of one that stands for several, of those that were chosen.
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Instructions that read this byte, or one of so many.
    #[arg(long, value_name = "ADDRESS[:LENGTH]", value_parser = ranges)]
    read: Vec<Ranges>,
    /// Steps that write this byte, or one of so many: instructions, system calls, deliveries of signals.
    #[arg(long, value_name = "ADDRESS[:LENGTH]", value_parser = ranges)]
    write: Vec<Ranges>,
    /// Calls of this address, or of one in so many bytes.
    #[arg(long, value_name = "ADDRESS[:LENGTH]", value_parser = ranges)]
    call: Vec<Ranges>,
    /// All calls.
    #[arg(long)]
    calls: bool,
    /// All returns.
    #[arg(long)]
    returns: bool,
    /// System calls of this name; `all` for any.
    #[arg(long, value_name = "NAME")]
    system_call: Vec<String>,
    /// Deliveries of signals.
    #[arg(long)]
    signals: bool,
    /// The first time to look at.
    #[arg(long, value_name = "TIME")]
    from: Option<u64>,
    /// The last time to look at.
    #[arg(long, value_name = "TIME")]
    to: Option<u64>,
    /// From late to early.
    #[arg(long)]
    backward: bool,
    /// How many to find at most.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    max: usize,
    /// Only the times, without the thread and the place.
    #[arg(long)]
    times: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// `ADDRESS` or `ADDRESS:LENGTH`.
fn ranges(text: &str) -> Result<Ranges, String> {
    let (address, length) = text.split_once(':').unwrap_or((text, "1"));
    let digits = address.strip_prefix("0x").unwrap_or(address);
    let start = u64::from_str_radix(digits, 16).map_err(|_| format!("{address} is not an address"))?;
    let length: u64 = length.parse().map_err(|_| format!("{length} is not a length"))?;
    let end = start.checked_add(length).filter(|end| *end > start).ok_or("no byte is there")?;
    Ok((start..end).into())
}

fn bad(message: String) -> anyhow::Error {
    Failure { status: Status::BadInput, message }.into()
}

/// Does it.
pub fn run(arguments: &Find) -> Result<Status> {
    let travel = super::process::travel(&arguments.recording, &arguments.stream)?;
    let conditions = conditions(arguments, &travel)?;
    let span = travel.span();
    let last = span.end - 1;
    let within = arguments.from.unwrap_or(span.start)..arguments.to.unwrap_or(last).saturating_add(1);
    if within.is_empty() || within.start < span.start || within.end > span.end || arguments.max == 0 {
        return Err(bad(format!(
            "there is nothing to find: the times of the recording are {} to {last}",
            span.start
        )));
    }
    let direction = if arguments.backward { Direction::Backward } else { Direction::Forward };
    let found = progress::during("searching", || {
        travel.search(&conditions, within, direction, arguments.max, &Unwatched)
    })?;
    let mut out = std::io::stdout().lock();
    let mut rows = Vec::new();
    for hit in &found.hits {
        let place = if arguments.times { None } else { Some(travel.state(hit.time)?) };
        if arguments.json {
            let mut row = serde_json::json!({ "time": hit.time });
            if let Some(state) = &place {
                row["thread"] = state.thread().into();
                row["pc"] = format!("{:#x}", state.pc()).into();
            }
            rows.push(row);
            continue;
        }
        match place {
            Some(state) => writeln!(out, "{}  thread {}  {:#x}", hit.time, state.thread(), state.pc())?,
            None => writeln!(out, "{}", hit.time)?,
        }
    }
    if arguments.json {
        let document = serde_json::json!({
            "steps": rows,
            "decided": { "from": found.decided.start, "to": found.decided.end.saturating_sub(1) },
        });
        writeln!(out, "{document:#}")?;
    } else if found.hits.len() == arguments.max {
        eprintln!("{} found; there may be more (--max)", found.hits.len());
    }
    Ok(Status::Clean)
}

fn conditions(arguments: &Find, travel: &Travel) -> Result<Vec<Filter>> {
    let mut all: Vec<Filter> = Vec::new();
    all.extend(arguments.execute.iter().cloned().map(Filter::Execute));
    if !arguments.function.is_empty() {
        let symbols = Modules::new(travel.log().clone()).symbols(&travel.state(travel.span().end)?);
        for name in &arguments.function {
            let entries = functions_named(travel, &symbols, name, &Unwatched)?;
            if entries.is_empty() && symbols.functions_named(name).is_empty() {
                return Err(bad(format!("there is no function {name}")));
            }
            let entries = entries.into_iter().map(|entry| entry..entry.saturating_add(1));
            all.push(Filter::Execute(Ranges::new(entries)));
        }
    }
    all.extend(arguments.read.iter().cloned().map(Filter::Read));
    all.extend(arguments.write.iter().cloned().map(Filter::Write));
    all.extend(arguments.call.iter().cloned().map(Filter::Call));
    if arguments.calls {
        all.push(Filter::Call(Ranges::all()));
    }
    if arguments.returns {
        all.push(Filter::Return);
    }
    for name in &arguments.system_call {
        let numbers = match name.as_str() {
            "all" => Numbers::All,
            name => {
                let number = travel.system_call(name)?;
                number.ok_or_else(|| bad(format!("there is no system call {name}")))?.into()
            }
        };
        all.push(Filter::SystemCall(numbers));
    }
    if arguments.signals {
        all.push(Filter::Signal(Numbers::All));
    }
    // One condition, since it does not matter which of them holds.
    match all.len() {
        0 => Err(bad(String::from(
            "say what to find: --execute, --function, --write, --system-call and others, see --help",
        ))),
        _ => Ok(vec![Filter::Any(all)]),
    }
}
