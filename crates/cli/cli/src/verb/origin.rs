//! `origin`: where a value of a recording comes from.

use anyhow::Result;
use clap::{ArgGroup, Args};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::{progress, report_file};
use parallax_flow::told::{kind, piece, piece_bytes, pieces, what};
use parallax_flow::{Asked, Bounds, Follow, Node, Origin as Answer, Piece, What, origin};
use parallax_moment::{Modules, place_of};
use parallax_report::{Document, Frame, Location, PathBuilder, Report, Role, Severity, Step, Tool};
use parallax_symbols::{Place, Symbols};
use parallax_trace::{Target, Unwatched};
use parallax_travel::Travel;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Find out where a value of a recording comes from.
///
/// Lists the step that wrote it, the steps that wrote what it was computed from, and so on, back to system calls, constants, files
/// and the program's start. A step is named by its time; `from` names the steps it took its values from.
///
/// Example: `parallax origin sorted.rec --at 12345 --register rax`, or `parallax origin sorted.rec --memory 7fffffffe000:8
/// --report where.html`. Addresses are hexadecimal, with or without `0x`. Without `--at` the end of the recording is meant.
#[derive(Args)]
#[command(group(ArgGroup::new("asked").required(true).args(["register", "memory", "variable"])))]
pub struct Origin {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The process: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// The time: the value before that step is meant.
    #[arg(long, value_name = "TIME")]
    at: Option<u64>,
    /// A register, such as `rax`, `al` or `xmm0`.
    #[arg(long, value_name = "NAME")]
    register: Option<String>,
    /// A byte of memory, or so many.
    #[arg(long, value_name = "ADDRESS[:LENGTH]", value_parser = range)]
    memory: Option<Range<u64>>,
    /// A variable, or an expression such as `list->first.value`, in the function that the thread is in.
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    variable: Option<String>,
    /// The thread; that of the next step, if none is named.
    #[arg(long, value_name = "NUMBER")]
    thread: Option<u32>,
    /// Follow the addresses of loads and stores too.
    #[arg(long)]
    addresses: bool,
    /// Follow what decides inside an instruction too, such as the condition of a move.
    #[arg(long)]
    conditions: bool,
    /// How many steps to list at most; what is cut is said, and the status is 4.
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max: usize,
    /// How many steps to look back at most.
    #[arg(long, value_name = "STEPS")]
    back: Option<u64>,
    /// Write a path report: `.xml`, `.sarif`, `.html` or `.json` by the ending of the name.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// `ADDRESS` or `ADDRESS:LENGTH`.
fn range(text: &str) -> Result<Range<u64>, String> {
    const MOST: u64 = 1 << 16;
    let (address, length) = text.split_once(':').unwrap_or((text, "1"));
    let digits = address.strip_prefix("0x").unwrap_or(address);
    let start = u64::from_str_radix(digits, 16).map_err(|_| format!("{address} is not an address"))?;
    let length: u64 = length.parse().map_err(|_| format!("{length} is not a length"))?;
    if length > MOST {
        return Err(format!("{length} bytes are too many: {MOST} at most"));
    }
    let end = start.checked_add(length).filter(|end| *end > start).ok_or("no byte is there")?;
    Ok(start..end)
}

fn bad(message: String) -> anyhow::Error {
    Failure { status: Status::BadInput, message }.into()
}

/// Does it.
pub fn run(arguments: &Origin) -> Result<Status> {
    let travel = super::process::travel(&arguments.recording, &arguments.stream)?;
    let modules = Modules::new(travel.log().clone());
    let time = arguments.at.unwrap_or(travel.span().end);
    let (asked, name) = asked(arguments, &travel, &modules, time)?;
    let follow = Follow { addresses: arguments.addresses, conditions: arguments.conditions };
    let bounds = Bounds { nodes: arguments.max.max(1), steps: arguments.back.unwrap_or(u64::MAX) };
    let found = progress::during("following", || origin(&travel, time, &asked, follow, bounds, &Unwatched))?;
    // By the end everything is loaded that was ever executed; a program that was replaced has symbols of its own.
    let symbols = modules.symbols(&travel.state(time)?);
    let shown = Shown { found: &found, symbols, name, time };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", shown.json())?;
    } else {
        shown.text(&mut out)?;
    }
    if let Some(file) = &arguments.report {
        report_file::save(file, shown.document(), Vec::new(), &shown.title())?;
    }
    match &found.cut {
        None => Ok(Status::Clean),
        Some(cut) => {
            let bytes: usize = cut.left.iter().map(|piece| piece_bytes(piece).len()).sum();
            eprintln!(
                "cut here: {bytes} bytes come from steps before {}, which were not looked at (--max, --back)",
                cut.time
            );
            Ok(Status::GaveUp)
        }
    }
}

/// What is asked about, and what to call it.
fn asked(arguments: &Origin, travel: &Travel, modules: &Modules, time: u64) -> Result<(Asked, String)> {
    if let Some(name) = &arguments.register {
        return Ok((Asked::Register { name: name.clone(), thread: arguments.thread }, name.clone()));
    }
    if let Some(range) = &arguments.memory {
        let name = format!("{:#x}:{}", range.start, range.end - range.start);
        return Ok((Asked::Memory(range.clone()), name));
    }
    let text = arguments.variable.as_deref().unwrap_or_default();
    let moment = modules.moment(travel.state(time)?, arguments.thread);
    let frame = moment.frame();
    let wrong = |error: parallax_symbols::Error| bad(format!("{text} at {time}: {error}"));
    let value = moment.symbols.evaluate(text, &frame, &moment).map_err(wrong)?;
    match value.place {
        Place::Memory(address) => {
            let size = moment.symbols.size(&value.ty).map_err(wrong)?.max(1);
            Ok((Asked::Memory(address..address.saturating_add(size)), text.to_owned()))
        }
        Place::Bytes { .. } => {
            let message =
                format!("{text} is not in memory at {time}: ask for the register it is in (--register)");
            Err(bad(message))
        }
        Place::OptimizedOut | Place::Synthetic => {
            Err(bad(format!("{text} is optimized out at {time}: the compiler did not keep it")))
        }
    }
}

/// An answer, and what is needed to show it.
struct Shown<'a> {
    found: &'a Answer,
    symbols: Arc<Symbols>,
    name: String,
    time: u64,
}

impl Shown<'_> {
    fn title(&self) -> String {
        format!("where {} at {} comes from", self.name, self.time)
    }

    /// The function and the line of a node, as text.
    fn place(&self, node: &Node) -> String {
        let (function, line) = place_of(&self.symbols, node.pc);
        match (node.pc, function, line) {
            (0, ..) => String::new(),
            (_, Some(function), Some(line)) => format!("{function} ({}:{})", short(&line.file), line.line),
            (_, Some(function), None) => function,
            (pc, ..) => format!("{pc:#x}"),
        }
    }

    fn times(&self, of: &[usize]) -> String {
        let mut times: Vec<u64> = of.iter().map(|index| self.found.nodes[*index].time).collect();
        times.dedup();
        times.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }

    fn text(&self, out: &mut impl Write) -> Result<()> {
        for node in &self.found.nodes {
            let place = self.place(node);
            if node.what == What::Asked {
                let from = self.times(&node.from);
                writeln!(out, "{} at {}, {place}: {}", self.name, self.time, pieces(&node.made))?;
                writeln!(out, "  from {from}")?;
                continue;
            }
            writeln!(out, "{}  {}  {}", node.time, what(&node.what), place)?;
            write!(out, "  {}", pieces(&node.made))?;
            match &node.from[..] {
                [] => writeln!(out)?,
                from => writeln!(out, " from {}", self.times(from))?,
            }
        }
        let ends: Vec<&Node> = self.found.nodes.iter().filter(|node| node.is_end()).collect();
        writeln!(out, "comes from {} {}:", ends.len(), if ends.len() == 1 { "place" } else { "places" })?;
        for node in ends {
            writeln!(out, "  {}  {}: {}", node.time, what(&node.what), pieces(&node.made))?;
        }
        Ok(())
    }

    fn json(&self) -> serde_json::Value {
        let piece = |piece: &Piece| match piece {
            Piece::Register { thread, name, low, bytes } => serde_json::json!({
                "register": name, "thread": thread, "low": low, "bytes": bytes,
            }),
            Piece::Memory { address, bytes } => {
                serde_json::json!({ "address": format!("{address:#x}"), "bytes": bytes })
            }
        };
        let nodes = self.found.nodes.iter().map(|node| {
            let (function, line) = place_of(&self.symbols, node.pc);
            serde_json::json!({
                "time": node.time,
                "thread": node.thread,
                "pc": format!("{:#x}", node.pc),
                "function": function,
                "file": line.as_ref().map(|line| line.file.to_string()),
                "line": line.as_ref().map(|line| line.line),
                "what": kind(&node.what),
                "text": what(&node.what),
                "made": node.made.iter().map(piece).collect::<Vec<_>>(),
                "from": node.from,
                "end": node.is_end(),
            })
        });
        let nodes: Vec<serde_json::Value> = nodes.collect();
        let cut = self.found.cut.as_ref().map(|cut| {
            serde_json::json!({ "before": cut.time, "left": cut.left.iter().map(piece).collect::<Vec<_>>() })
        });
        serde_json::json!({
            "asked": self.name,
            "time": self.time,
            "nodes": nodes,
            "complete": cut.is_none(),
            "cut": cut,
            "looked": self.found.looked,
        })
    }

    /// One path for each place that the value comes from, from there to the value.
    fn document(&self) -> Document {
        const MOST: usize = 100;
        let mut report = Report {
            rule: String::from("origin"),
            title: self.title(),
            severity: Severity::Note,
            tool: Tool {
                name: String::from("parallax"),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            },
            ..Report::default()
        };
        let chains = self.found.chains();
        for (flow, chain) in chains.iter().take(MOST).enumerate() {
            let end = &self.found.nodes[chain[0]];
            let mut path = PathBuilder::new(format!("from {}", what(&end.what)));
            path.describe(parallax_report::PathKind::Flow, flow as u32);
            for index in chain {
                let node = &self.found.nodes[*index];
                let (function, line) = place_of(&self.symbols, node.pc);
                let function = function.unwrap_or_default();
                let location = line.map(|line| {
                    Location::line(line.file.to_string(), line.line as u32).at_column(line.column as u32)
                });
                if path.current().is_none_or(|frame| frame.function != function) {
                    path.leave_to(0);
                    let file = location.as_ref().map_or(String::new(), |place| place.file.clone());
                    path.enter(Frame::new(function, file));
                }
                let mut step = Step::at(Role::Access, location);
                step.failing = node.what == What::Asked;
                step.time = node.time.to_string();
                step = step.with_message(match &node.what {
                    What::Asked => format!("{} is {}", self.name, pieces(&node.made)),
                    other => format!("{}: {}", what(other), pieces(&node.made)),
                });
                for made in &node.made {
                    let text = piece(made);
                    let (name, value) = text.split_once(" = ").unwrap_or((&text, ""));
                    step = step.with_value(name, value);
                }
                if step.failing {
                    report.location.clone_from(&step.location);
                }
                path.step(step);
            }
            report.paths.push(path.finish());
        }
        let mut document = Document { reports: vec![report], ..Document::default() };
        if chains.len() > MOST {
            document.notes.push(format!(
                "{} of {} places that the value comes from are shown",
                MOST,
                chains.len()
            ));
        }
        if let Some(cut) = &self.found.cut {
            document.notes.push(format!("cut: steps before {} were not looked at", cut.time));
        }
        document
    }
}

/// The last part of a path.
fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
