//! `find`: the steps of a recording at which conditions hold.

use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::progress;
use parallax_moment::{Code, Modules, Names, Stop};
use parallax_symbols::Place;
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Numbers, Ranges, Travel};
use std::io::Write;
use std::path::PathBuf;

/// Find the steps of a recording at which something happens.
///
/// Example: `parallax find sorted.rec --system-call write` lists the writes; `parallax find sorted.rec --write 0x4c5310:8 --backward
/// --max 1` finds the last step that wrote there, `--write 'list->length'` those that wrote a variable. Addresses are hexadecimal,
/// with or without `0x`. Several conditions may be given; a step is shown if one of them holds.
#[derive(Args)]
pub struct Find {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The process: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// Instructions at this address, or in so many bytes from it on; or the start of a line's code, as FILE:LINE.
    #[arg(long, value_name = "ADDRESS[:LENGTH]")]
    execute: Vec<String>,
    /// Entries of the functions of this name, where they were inlined too; of one that stands for several, of those that
    /// were chosen.
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Ends of the functions of this name: returns, and jumps to other functions.
    #[arg(long, value_name = "NAME")]
    end: Vec<String>,
    /// Instructions that read this byte, or one of so many, or a byte of a variable: an expression of C over what is known
    /// at the end of the recording.
    #[arg(long, value_name = "ADDRESS[:LENGTH]")]
    read: Vec<String>,
    /// Steps that write this byte, or one of so many, or a byte of a variable: instructions, system calls, deliveries of
    /// signals.
    #[arg(long, value_name = "ADDRESS[:LENGTH]")]
    write: Vec<String>,
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
    let (conditions, notes) = progress::during("looking for names", || conditions(arguments, &travel))?;
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
            "notes": notes,
        });
        writeln!(out, "{document:#}")?;
        return Ok(Status::Clean);
    }
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    if found.hits.len() == arguments.max {
        eprintln!("{} found; there may be more (--max)", found.hits.len());
    }
    Ok(Status::Clean)
}

/// What words mean in a recording.
struct Meant<'t> {
    travel: &'t Travel,
    modules: Modules,
    /// What was left out.
    notes: Vec<String>,
}

impl Meant<'_> {
    fn code(&mut self, what: &str, name: &str, code: Code) -> Result<Filter> {
        if code.is_empty() {
            return Err(bad(format!("there is no {what} {name}{}", after(&code.notes))));
        }
        self.notes.extend(code.notes.iter().cloned());
        Ok(code.filter())
    }

    fn function(&mut self, name: &str, stop: Stop) -> Result<Filter> {
        let names = Names { travel: self.travel, modules: &self.modules, watch: &Unwatched };
        let code = names.function(name, stop)?;
        let what = if stop == Stop::End { "known end of a function" } else { "function" };
        self.code(what, name, code)
    }

    /// An address, or a line of a file.
    fn place(&mut self, text: &str) -> Result<Filter> {
        let wrong = match ranges(text) {
            Ok(ranges) => return Ok(Filter::Execute(ranges)),
            Err(wrong) => wrong,
        };
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let Some((file, line)) = line else {
            return Err(bad(format!("{wrong}, nor FILE:LINE; --function finds functions")));
        };
        let code =
            Names { travel: self.travel, modules: &self.modules, watch: &Unwatched }.line(file, line)?;
        self.code("code of", text, code)
    }

    /// An address, or what lies in memory by an expression.
    fn extent(&self, text: &str) -> Result<Ranges> {
        let state = self.travel.state(self.travel.span().end)?;
        let moment = self.modules.moment(state, None);
        let value = moment.symbols.evaluate(text, &moment.frame(), &moment);
        match (ranges(text), value) {
            // A name such as `fade` is also a number.
            (Ok(_), Ok(value)) if !text.starts_with("0x") && !text.contains(':') && is_named(text) => {
                let lies = matches!(value.place, Place::Memory(_));
                if lies {
                    return Err(bad(format!(
                        "{text} is an address and a variable: write 0x{text} for the one, ({text}) for the other"
                    )));
                }
                Ok(ranges(text).map_err(bad)?)
            }
            (Ok(ranges), _) => Ok(ranges),
            (Err(_), Ok(value)) => {
                let size = moment.symbols.size(&value.ty)?.max(1);
                match value.place {
                    Place::Memory(address) => Ok((address..address.saturating_add(size)).into()),
                    _ => Err(bad(format!("{text} does not lie in memory"))),
                }
            }
            (Err(wrong), Err(error)) => Err(bad(format!("{wrong}, and as an expression: {error}"))),
        }
    }
}

/// Whether it may be the name of a variable.
fn is_named(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

fn after(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\n{note}")).collect()
}

/// One condition, and what was left out of it.
fn conditions(arguments: &Find, travel: &Travel) -> Result<(Vec<Filter>, Vec<String>)> {
    let mut meant = Meant { travel, modules: Modules::new(travel.log().clone()), notes: Vec::new() };
    let mut all: Vec<Filter> = Vec::new();
    for place in &arguments.execute {
        all.push(meant.place(place)?);
    }
    for name in &arguments.function {
        all.push(meant.function(name, Stop::Entry)?);
    }
    for name in &arguments.end {
        all.push(meant.function(name, Stop::End)?);
    }
    for place in &arguments.read {
        all.push(Filter::Read(meant.extent(place)?));
    }
    for place in &arguments.write {
        all.push(Filter::Write(meant.extent(place)?));
    }
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
    // Those without a test are one condition, since it does not matter which of them holds.
    let (tested, plain): (Vec<Filter>, Vec<Filter>) =
        all.into_iter().partition(|filter| matches!(filter, Filter::When(..)));
    let mut conditions = tested;
    if !plain.is_empty() {
        conditions.push(Filter::Any(plain));
    }
    match conditions.len() {
        0 => Err(bad(String::from(
            "say what to find: --execute, --function, --write, --system-call and others, see --help",
        ))),
        1..=64 => Ok((conditions, meant.notes)),
        count => Err(bad(format!("{count} conditions are too many: 64 at most"))),
    }
}
